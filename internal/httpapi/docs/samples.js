// Samples of a call in four languages, by the clients that the project has.

const json = (value) => JSON.stringify(value, null, 2);
const camel = (id) => id.replaceAll("-", "_");

// literal writes a value as Python does.
const literal = (value, indent = "") => {
  const inner = indent + "    ";
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map((v) => literal(v, indent)).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).map(([k, v]) => `${inner}${JSON.stringify(k)}: ${literal(v, inner)},\n`);
  return members.length ? `{\n${members.join("")}${indent}}` : "{}";
};

const filled = (path, given) => path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(given[name]));

// samplesOf returns [language, text] of each language. call has id, method, path, the values of the path and the query,
// body (undefined = none), type of the body, whether a token will do, and base, where the API is.
export const samplesOf = (call) => {
  const { id, method, path, given, query, body, type, token, base } = call;
  const asked = new URLSearchParams(query).toString();
  const curl = [`curl${method === "get" ? "" : ` -X ${method.toUpperCase()}`} '${base}${filled(path, given)}${asked && `?${asked}`}'`];
  if (token) curl.push('-H "Authorization: Bearer $TOKEN"');
  else curl.push("-b 'rimewatch_session=…'");
  if (body !== undefined) curl.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`);
  else if (type) curl.push(`-H 'Content-Type: ${type}'`, "--data-binary @file");
  const all = [["curl", curl.join(" \\\n  ")]];
  if (!token || (type && body === undefined)) return all; // a session's own, or a file
  const root = base.replace(/\/api$/, "");
  const args = [...Object.values(given).map((v) => JSON.stringify(v)), ...(body === undefined ? [] : [literal(body)])];
  const named = Object.entries(query).map(([k, v]) => `${camel(k === "from" ? "from_" : k)}=${JSON.stringify(v)}`);
  all.push(["Python", `from rimewatch import Rimewatch\n\nrime = Rimewatch("${root}", token)\nprint(rime.${camel(id)}(${[...args, ...named].join(", ")}))`]);
  const init = [];
  if (Object.keys(given).length) init.push(`path: ${JSON.stringify(given)}`);
  if (asked) init.push(`query: ${JSON.stringify(query)}`);
  if (body !== undefined) init.push(`body: ${json(body)}`);
  all.push(["TypeScript", `import { Rimewatch } from 'rimewatch';\n\nconst rime = new Rimewatch('${root}', token);\nconsole.log(await rime.${method}('${path}'${init.length ? `, { ${init.join(", ")} }` : ""}));`]);
  const fields = [`Method: "${method.toUpperCase()}"`, `Path: "${filled(path, given).replace("/v1", "")}"`];
  if (asked) fields.push(`Query: url.Values{${Object.entries(query).map(([k, v]) => `"${k}": {${JSON.stringify(v)}}`).join(", ")}}`);
  if (body !== undefined) fields.push(`Body: json.RawMessage(\`${json(body)}\`)`);
  all.push(["Go", `c, err := client.New("${root}", token, nil)\nif err != nil {\n\treturn err\n}\nanswer, err := c.Call(ctx, client.Request{${fields.join(", ")}})`]);
  return all;
};
