"""Writes rimewatch/types.py and rimewatch/operations.py from the description of the API: python3 generate.py OPENAPI.json"""
import json
import keyword
import os
import re
import sys
import textwrap

HEAD = '"""{}; made by generate.py from the description of the API."""\nfrom __future__ import annotations\n\n'


def name_of(ref):
    return ref.rsplit("/", 1)[1]


class Types:
    def __init__(self, schemas):
        self.schemas = schemas

    def of(self, s, prefix=""):
        """The Python type of a schema."""
        if "$ref" in s:
            return prefix + name_of(s["$ref"])
        for several in ("oneOf", "anyOf"):
            if several in s:
                return union([self.of(one, prefix) for one in s[several]])
        if "enum" in s:
            values = [v for v in s["enum"] if v is not None]
            if set(values) <= {"true", "false"}:
                return "bool"  # of a query
            return union(["Literal[%s]" % ", ".join(repr(v) for v in values)] + (["None"] if None in s["enum"] else []))
        kinds = s.get("type", [])
        return union([self.plain(kind, s, prefix) for kind in (kinds if isinstance(kinds, list) else [kinds])]) if kinds else "Any"

    def plain(self, kind, s, prefix):
        if kind == "array":
            return "List[%s]" % self.of(s["items"], prefix)
        if kind == "object":
            extra = s.get("additionalProperties")
            return "Dict[str, %s]" % (self.of(extra, prefix) if isinstance(extra, dict) else "Any")
        return {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}[kind]

    def write(self):
        out = [HEAD.format("Shapes of bodies and answers"), "from typing import Any, Dict, List, Literal, Optional, TypedDict, Union\n"]
        for name, s in sorted(self.schemas.items()):
            fields = s.get("properties")
            if name.startswith("Envelope"):
                continue
            if not fields:
                out.append("%s = %s" % (name, quoted(self.of(s))))
                continue
            required = set(s.get("required", []))
            parts = [("", True, [f for f in fields if f in required]), ("Optional", False, [f for f in fields if f not in required])]
            bases = []
            for suffix, total, some in parts:
                if some:
                    base = "_%s%s" % (name, suffix)
                    bases.append(base)
                    out.append('%s = TypedDict("%s", {' % (base, base))
                    out += ["    # %s\n    %r: %s," % (note(fields[f]), f, quoted(self.of(fields[f]))) if note(fields[f]) else "    %r: %s," % (f, quoted(self.of(fields[f]))) for f in some]
                    out.append("}%s)" % ("" if total else ", total=False"))
            out.append("\n\nclass %s(%s):" % (name, ", ".join(bases)))
            out.append("    %s\n\n" % doc(s.get("description", "")) if s.get("description") else "    pass\n\n")
        return "\n".join(out) + "\n"


def note(s):
    text = s.get("description", "").replace("\n", " ")
    known = s.get("x-extensible-enum")
    if known:
        text += (" " if text else "") + "One of %s, or a value of a later version." % ", ".join(known)
    return text


def quoted(t):
    return '"%s"' % t.replace('"', "'")


def union(types):
    types = list(dict.fromkeys(types))
    rest = [t for t in types if t != "None"]
    if not rest:
        return "None"
    inner = rest[0] if len(rest) == 1 else "Union[%s]" % ", ".join(rest)
    return "Optional[%s]" % inner if len(rest) < len(types) else inner


def doc(text):
    return '"""%s"""' % text.replace("\\", "\\\\").replace('"""', "'''")


def python_name(name):
    name = re.sub(r"\W", "_", name)
    return name + "_" if keyword.iskeyword(name) else name


def operations(spec, types):
    out = [HEAD.format("The operations"), "from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Literal, Optional, Union\n\nif TYPE_CHECKING:\n    from . import types\n\n\nclass Operations:"]
    out.append('    """Every operation that a token may call, by its id in the description."""\n')
    out.append("    def call(self, method: str, template: str, **how: Any) -> Any:\n        raise NotImplementedError\n")
    out.append("    def pages(self, path: str, query: Dict[str, Any]) -> Iterator[Any]:\n        raise NotImplementedError\n")
    for path, methods in spec["paths"].items():
        for method, op in methods.items():
            if op["operationId"] == "stream" or (op["security"] and not any("token" in s for s in op["security"])):
                continue  # people alone
            out.append(operation(path, method, op, spec, types))
    return "\n".join(out)


def operation(path, method, op, spec, types):
    placed = [p for p in op.get("parameters", []) if p["in"] == "path"]
    asked = [p for p in op.get("parameters", []) if p["in"] == "query" and p["name"] != "label.KEY"]
    labels = any(p["name"] == "label.KEY" for p in op.get("parameters", []))
    headers = {p["name"] for p in op.get("parameters", []) if p["in"] == "header"}
    bodies = op.get("requestBody", {}).get("content", {})
    body = bodies.get("application/json")
    args = ["self"] + ["%s: Union[str, int]" % python_name(p["name"]) for p in placed]
    how = []
    if body:
        args.append("body: %s" % types.of(body["schema"], "types.") + ("" if op["requestBody"].get("required", True) else " | None = None"))
        how.append("body=body")
    elif bodies:
        args += ["body: bytes", "content_type: str = %r" % ("text/csv" if "text/csv" in bodies else next(iter(bodies)))]
        how.append("body=body, content_type=content_type")
    args.append("*")  # the rest by name
    args += ["%s: Optional[%s] = None" % (python_name(p["name"]), types.of(p["schema"])) for p in asked]
    query = ["%r: %s" % (p["name"], python_name(p["name"])) for p in asked]
    if labels:
        args.append("labels: Optional[Dict[str, str]] = None")
        query.append("**{'label.' + k: v for k, v in (labels or {}).items()}")
    if query:
        how.append("query={%s}" % ", ".join(query))
    if "If-Match" in headers:
        args.append("if_match: Optional[str] = None")
        how.append("if_match=if_match")
    if "application/merge-patch+json" in bodies:
        args.append("merge: bool = False")
        how.append("merge=merge")
    if "Idempotency-Key" in headers:
        args.append("idempotency_key: Optional[str] = None")
        how.append("idempotency_key=idempotency_key")
    answer, item = answered(op, spec, types)
    if answer == "bytes":
        how.append("raw=True")
    forms = sorted({t for status, r in op["responses"].items() if status[0] == "2" for t in r.get("content", {})} - {"application/json"})
    if forms and answer != "bytes":
        if "*" not in args:
            args.append("*")
        args.append("accept: Optional[str] = None")
        how.append("accept=accept")
        answer = "Any"
    text = [op["summary"] + "."] + ([op["description"]] if op.get("description") else [])
    text += ["``%s``: %s" % (python_name(p["name"]), p["description"]) for p in asked if p.get("description")]
    if forms and answer == "Any":
        text.append("``accept``: %s, which is returned as bytes." % " or ".join(forms))
    if args[-1] == "*":
        args.pop()
    called = '"%s"' % re.sub(r"\{(\w+)\}", lambda m: "{%s}" % m[1], path)
    if placed:
        how.insert(0, "path={%s}" % ", ".join("%r: %s" % (p["name"], python_name(p["name"])) for p in placed))
    name = python_name(op["operationId"].replace("-", "_"))
    lines = ["    def %s(%s) -> %s:" % (name, ", ".join(args), answer), textwrap.indent(doc("\n\n".join(text)), "        "),
             "        return self.call(%r, %s)\n" % (method.upper(), ", ".join([called] + how))]
    if item and any(p["name"] == "cursor" for p in asked) and not placed and name.startswith("list_"):
        lines += ["    def all_%s(%s) -> Iterator[%s]:" % (name[5:], ", ".join(shorter(args)), item),
                  "        %s" % doc("%s, page after page." % op["summary"]),
                  "        return self.pages(%s, {%s})\n" % (called, ", ".join(q for q in query if q.split(":")[0] not in ("'page'", "'cursor'", "'per_page'")))]
    return "\n".join(lines)


def shorter(args):
    """The arguments without those of paging."""
    rest = [a for a in args if a.split(":")[0] not in ("page", "cursor", "per_page")]
    return rest[:-1] if rest[-1] == "*" else rest


def answered(op, spec, types):
    """The type of an operation's data, and that of the items of a list."""
    for status in ("200", "201"):
        content = op["responses"].get(status, {}).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        if not schema:
            continue
        if "anyOf" in schema:
            schema = schema["anyOf"][0]
        data = spec["components"]["schemas"][name_of(schema["$ref"])]["properties"]["data"]
        item = None
        if "$ref" in data:
            fields = spec["components"]["schemas"][name_of(data["$ref"])].get("properties", {})
            lists = [s["items"] for f, s in fields.items() if s.get("type") == "array" and f != "warnings"]
            item = types.of(lists[0], "types.") if len(lists) == 1 and "pagination" in fields else None
        return types.of(data, "types."), item
    return "bytes", None


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        spec = json.load(f)
    types = Types(spec["components"]["schemas"])
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rimewatch")
    for name, text in (("types.py", types.write()), ("operations.py", operations(spec, types))):
        with open(os.path.join(here, name), "w", encoding="utf-8") as f:
            f.write(text)


main()
