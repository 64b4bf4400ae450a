/** How long anything may take before a test gives up, ms. It is the limit for a
 * machine that is busy with other work; nothing is measured against it. Who writes a
 * test waits less with PATIENCE=8000. */
export const patience = Number(process.env.PATIENCE ?? 120_000);
