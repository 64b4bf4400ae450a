/** gate is shut: what waits until it is passed goes on once it is opened. Promise.withResolvers does this from Node 22 on. */
export function gate() {
  let open = () => {};
  const passed = new Promise<void>((done) => (open = done));
  return { open, passed };
}
