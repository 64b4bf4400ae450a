// Draws the OpenAPI description as a page. Everything is made with DOM calls:
// no text of the description is ever taken for HTML.
import { samplesOf } from "./samples.js";

const el = (tag, attrs = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs)) if (v !== undefined) node.setAttribute(k, v);
  node.append(...children.filter((c) => c !== undefined && c !== null));
  return node;
};

// The little Markdown that descriptions use: paragraphs, `code` and **bold**.
const inline = (text) =>
  text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith("`") && part.length > 1) return el("code", {}, part.slice(1, -1));
    if (part.startsWith("**") && part.length > 2) return el("strong", {}, part.slice(2, -2));
    return part;
  });
const prose = (text = "") => text.split(/\n\n+/).filter(Boolean).map((p) => el("p", {}, ...inline(p)));

let doc;
const deref = (s) => {
  while (s && s.$ref) s = s.$ref.slice(2).split("/").reduce((o, k) => o[k], doc);
  return s;
};
const refName = (s) => (s && s.$ref ? s.$ref.split("/").pop() : "");

const typeOf = (schema) => {
  const s = deref(schema);
  if (!s) return "";
  if (s.oneOf) return s.oneOf.map((o) => refName(o) || typeOf(o)).join(" or ");
  const types = [s.type].flat().filter(Boolean);
  if (types.includes("array")) return `array of ${refName(s.items) || typeOf(s.items)}`;
  let text = types.map((t) => (t === "object" && refName(schema)) || t).join(" or ");
  if (s.format === "date-time") text += ", time";
  return text;
};

const limitsOf = (schema) => {
  const s = deref(schema);
  const out = [];
  if (s.enum) out.push(s.enum.filter((v) => v !== null).join(" | "));
  if (s["x-extensible-enum"]) out.push([...s["x-extensible-enum"], "…"].join(" | "));
  if (s.deprecated) out.push(`ends on ${s["x-sunset"]}`);
  if (s.minimum !== undefined && s.maximum !== undefined) out.push(`${s.minimum} … ${s.maximum}`);
  else if (s.minimum !== undefined) out.push(`≥ ${s.minimum}`);
  else if (s.maximum !== undefined) out.push(`≤ ${s.maximum}`);
  if (s.maxLength !== undefined) out.push(`at most ${s.maxLength} characters`);
  if (s.maxItems !== undefined) out.push(`at most ${s.maxItems} items`);
  if (s.default !== undefined) out.push(`default ${s.default}`);
  return out.join(", ");
};

const objectIn = (schema) => {
  const s = deref(schema);
  if (!s) return undefined;
  if (s.properties) return s;
  if (s.items) return objectIn(s.items);
  if (s.oneOf) return s.oneOf.map(objectIn).find(Boolean);
  return undefined;
};

const fieldTable = (schema, depth = 0) => {
  const s = objectIn(schema);
  if (!s) return el("p", { class: "none" }, typeOf(schema) || "nothing");
  const must = s.required || [];
  const names = Object.keys(s.properties).sort((a, b) => must.includes(b) - must.includes(a)); // stable
  const rows = names.map((name) => {
    const prop = s.properties[name];
    const required = must.includes(name);
    const about = el("td", {}, el("span", { class: "type" }, [typeOf(prop), limitsOf(prop)].filter(Boolean).join(", ")));
    const text = prop.description || (deref(prop) || {}).description;
    if (text) about.append(el("br"), ...inline(text));
    const inner = depth < 4 && objectIn(prop);
    if (inner) about.append(el("details", { class: "inner" }, el("summary", {}, "fields"), fieldTable(prop, depth + 1)));
    return el("tr", {}, el("td", {}, el("code", {}, name), required ? el("span", { class: "need" }, " required") : null), about);
  });
  return rows.length ? el("table", {}, el("tbody", {}, ...rows)) : el("p", { class: "none" }, "no fields");
};

const exampleOf = (schema, onlyRequired, depth = 0) => {
  const s = deref(schema);
  if (!s || depth > 6) return null;
  if (s.examples && s.examples.length) return s.examples[0];
  if (s.example !== undefined) return s.example;
  if (s.oneOf) return exampleOf(s.oneOf[0], onlyRequired, depth + 1);
  const known = s.enum || s["x-extensible-enum"];
  if (known) return known[0];
  const type = [s.type].flat()[0];
  if (type === "object") {
    const names = Object.keys(s.properties || {});
    const required = s.required || [];
    // A time in an example would be out of date before anyone tries it.
    const telling = (p) => (p.examples || []).length && p.format !== "date-time";
    const chosen = names.filter((n) => required.includes(n) || telling(deref(s.properties[n])));
    chosen.sort((a, b) => required.includes(b) - required.includes(a));
    return Object.fromEntries((onlyRequired && chosen.length ? chosen : names).map((n) => [n, exampleOf(s.properties[n], onlyRequired, depth + 1)]));
  }
  if (type === "array") return [exampleOf(s.items, onlyRequired, depth + 1)];
  return { integer: 1, number: 1.5, boolean: true, string: "text" }[type] ?? null;
};

const copyable = (text) => {
  const button = el("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return el("div", { class: "copy" }, el("pre", { tabindex: "0" }, el("code", {}, text)), button);
};

// callOf is an example of an operation's call.
const callOf = (method, path, op) => {
  const values = (where, only) =>
    Object.fromEntries((op.parameters || []).filter((p) => p.in === where && only(p)).map((p) => [p.name, String(exampleOf(p.schema) ?? "1")]));
  const content = (op.requestBody || {}).content || {};
  const body = content["application/json"];
  return {
    id: op.operationId, method, path,
    given: values("path", () => true),
    query: values("query", (p) => p.required),
    body: body && exampleOf(body.schema, true),
    type: Object.keys(content)[0],
    token: !(op.security || []).length || op.security.some((s) => s.token),
    base: new URL(doc.servers[0].url, location.href).href.replace(/\/$/, ""),
  };
};

let language = localStorage.getItem("rimewatch-docs-language") || "curl";

// request shows samples, in the language that was chosen last.
const request = (call) => {
  const shown = el("div", {});
  const choice = el("div", { class: "languages", role: "group", "aria-label": "Language of the sample" });
  const all = samplesOf(call);
  const show = () => {
    const [name, text] = all.find(([l]) => l === language) || all[0];
    shown.replaceChildren(copyable(text));
    for (const b of choice.children) b.setAttribute("aria-pressed", String(b.textContent === name));
  };
  for (const [name] of all) {
    const button = el("button", { type: "button" }, name);
    button.addEventListener("click", () => {
      language = name;
      localStorage.setItem("rimewatch-docs-language", name);
      dispatchEvent(new Event("language"));
    });
    choice.append(button);
  }
  addEventListener("language", show);
  show();
  return all.length > 1 ? el("div", {}, choice, shown) : shown;
};

// The token for Try it: in the memory of this page alone.
let token = "";

// trying is a form that makes the call, with the token and never with a session.
const trying = (call, op) => {
  const box = el("details", { class: "try" }, el("summary", {}, "Try it"));
  box.addEventListener("toggle", () => {
    if (box.open && box.children.length === 1) box.append(form(call, op));
  });
  return box;
};

const form = (call, op) => {
  const fields = [];
  const field = (name, value, note) => {
    const input = el("input", { name, value, autocomplete: "off", spellcheck: "false" });
    fields.push(el("label", {}, el("code", {}, name), note ? el("span", { class: "need" }, ` ${note}`) : null, input));
    return input;
  };
  const secret = el("input", { type: "password", autocomplete: "off", value: token, placeholder: "rw_…" });
  secret.addEventListener("input", () => (token = secret.value.trim()));
  fields.push(el("label", {}, "API token", el("span", { class: "type" }, " stays in this page"), secret));
  const path = Object.entries(call.given).map(([name, value]) => [name, field(name, value, "required")]);
  const query = (op.parameters || []).filter((p) => p.in === "query" && p.name !== "label.KEY").map((p) => [p.name, field(p.name, p.required ? call.query[p.name] : "")]);
  const body = call.body === undefined ? null : el("textarea", { rows: "8", spellcheck: "false", "aria-label": "Body" });
  if (body) body.value = JSON.stringify(call.body, null, 2);
  const answer = el("div", { "aria-live": "polite" });
  const send = el("button", { type: "submit" }, `Send ${call.method.toUpperCase()}`);
  const made = el("form", {}, el("div", { class: "fields" }, ...fields), body, send, answer);
  made.addEventListener("submit", async (e) => {
    e.preventDefault();
    const at = new URL(call.base + call.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(path.find(([n]) => n === name)[1].value)));
    for (const [name, input] of query) if (input.value) at.searchParams.set(name, input.value);
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    if (body) headers["Content-Type"] = "application/json";
    send.disabled = true;
    try {
      const began = performance.now();
      const response = await fetch(at, { method: call.method.toUpperCase(), headers, body: body ? body.value : undefined, credentials: "omit" });
      const text = await response.text();
      const took = Math.round(performance.now() - began);
      let shown = text.length > 100000 ? `${text.slice(0, 100000)}…` : text;
      try {
        shown = JSON.stringify(JSON.parse(text), null, 2);
      } catch {
        // no JSON
      }
      answer.replaceChildren(el("p", {}, el("span", { class: "status" }, String(response.status)), ` ${at.pathname}${at.search}, ${took} ms`), copyable(shown));
    } catch (err) {
      answer.replaceChildren(el("p", {}, `No answer: ${err.message}`));
    }
    send.disabled = false;
  });
  return made;
};

const responses = (op) =>
  Object.entries(op.responses).sort().map(([status, r]) => {
    const full = deref(r);
    const content = Object.entries(full.content || {});
    const body = el("div", {});
    if (status < "300") {
      for (const [kind, media] of content) {
        const json = kind === "application/json";
        for (const one of media.schema.anyOf || [media.schema]) {
          body.append(el("p", {}, el("code", {}, kind), json ? ", in data:" : ""), fieldTable(json ? deref(one).properties.data : one));
        }
      }
    }
    const line = el("summary", {}, el("span", { class: "status" }, status), " ", ...inline(full.description || ""));
    return el("details", status < "300" ? { open: "" } : {}, line, body);
  });

const operation = (method, path, op) => {
  const title = el("h3", {}, op.summary);
  const where = el("p", { class: "path" }, el("span", { class: `method ${method}` }, method.toUpperCase()), " ", doc.servers[0].url.replace(/^https?:\/\/[^/]+/, ""), path);
  const box = el("article", { id: op.operationId }, title, where, ...prose(op.description));
  const params = (op.parameters || []).map((p) =>
    el("tr", {},
      el("td", {}, el("code", {}, p.name), p.required ? el("span", { class: "need" }, " required") : null),
      el("td", {}, el("span", { class: "type" }, [p.in, typeOf(p.schema), limitsOf(p.schema)].filter(Boolean).join(", ")), el("br"), ...inline(p.description || ""))));
  if (params.length) box.append(el("h4", {}, "Parameters"), el("table", {}, el("tbody", {}, ...params)));
  for (const [kind, media] of Object.entries((op.requestBody || {}).content || {})) {
    box.append(el("h4", {}, "Body ", el("code", {}, kind)), fieldTable(media.schema));
  }
  const call = callOf(method, path, op);
  box.append(el("h4", {}, "Request"), request(call));
  if (call.token && op.operationId !== "stream" && (call.body !== undefined || !call.type)) box.append(trying(call, op));
  box.append(el("h4", {}, "Answers"), ...responses(op));
  box.dataset.text = JSON.stringify([op.summary, op.description, path, method, op.operationId, params.length ? op.parameters.map((p) => p.name) : [], box.textContent]).toLowerCase();
  return box;
};

const draw = () => {
  const main = document.getElementById("main");
  const nav = document.getElementById("nav");
  main.append(el("h1", {}, doc.info.title, " ", el("small", { class: "none" }, doc.info.version)), ...prose(doc.info.description));
  for (const tag of doc.tags) {
    const section = el("section", { class: "tag" }, el("h2", {}, tag.name), ...prose(tag.description));
    const group = el("details", {}, el("summary", {}, tag.name));
    for (const [path, item] of Object.entries(doc.paths)) {
      for (const [method, op] of Object.entries(item)) {
        if (!(op.tags || []).includes(tag.name)) continue;
        section.append(operation(method, path, op));
        group.append(el("a", { href: `#${op.operationId}` }, el("span", { class: `method ${method}` }, method.toUpperCase()), op.summary));
      }
    }
    main.append(section);
    nav.append(group);
  }
};

const filter = (text) => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const box of document.querySelectorAll("article")) {
    const show = words.every((w) => box.dataset.text.includes(w));
    box.hidden = !show;
    document.querySelector(`nav a[href="#${box.id}"]`).hidden = !show;
  }
  for (const part of document.querySelectorAll("section.tag, nav details")) {
    part.hidden = ![...part.querySelectorAll("article, a")].some((n) => !n.hidden);
    if (part.tagName === "DETAILS") part.open = words.length > 0;
  }
};

// The list shows where the reader is: the last operation whose head is above the middle of the window.
const follow = () => {
  const list = [...document.querySelectorAll("article")].filter((a) => !a.hidden);
  let low = 0, high = list.length; // by halves: there are hundreds
  while (low < high) {
    const mid = (low + high) >> 1;
    if (list[mid].getBoundingClientRect().top < innerHeight / 2) low = mid + 1;
    else high = mid;
  }
  const link = low ? document.querySelector(`nav a[href="#${list[low - 1].id}"]`) : null;
  const was = document.querySelector("nav a[aria-current]");
  if (link === was) return;
  was?.removeAttribute("aria-current");
  if (!link) return;
  link.setAttribute("aria-current", "true");
  if (was && was.parentNode !== link.parentNode && !search.value) was.parentNode.open = false;
  link.parentNode.open = true;
  const nav = document.getElementById("nav"), at = link.offsetTop - nav.offsetTop;
  if (at < nav.scrollTop || at > nav.scrollTop + nav.clientHeight - 40) nav.scrollTop = at - nav.clientHeight / 3;
};

const theme = () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("rimewatch-docs-theme", root.dataset.theme);
};

const stored = localStorage.getItem("rimewatch-docs-theme");
if (stored === "light" || stored === "dark") document.documentElement.dataset.theme = stored;
document.getElementById("theme").addEventListener("click", theme);
const search = document.getElementById("search");
search.addEventListener("input", () => filter(search.value));
addEventListener("scroll", () => requestAnimationFrame(follow), { passive: true });
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && document.activeElement !== search) {
    e.preventDefault();
    search.focus();
  }
});

try {
  const answer = await fetch("openapi.json");
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  doc = await answer.json();
  draw();
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
} catch (err) {
  document.getElementById("main").append(el("p", {}, `The description cannot be loaded: ${err.message}`));
}
