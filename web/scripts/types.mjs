// Writes the types of the API's description: node types.mjs FILE [--open]. Enumerations of answers are open there, since servers of
// later versions may know more values. The web UI comes with its server, so to it they are closed; to others (--open) they
// are texts of which some are known.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const [file, open] = process.argv.slice(2);
const description = JSON.parse(readFileSync(fileURLToPath(new URL('../openapi.json', import.meta.url)), 'utf8'), (_, value) => {
  if (!Array.isArray(value?.['x-extensible-enum'])) return value;
  const { 'x-extensible-enum': values, ...schema } = value;
  const nullable = schema.type.includes('null');
  if (!open) return { ...schema, enum: nullable ? [...values, null] : values };
  const known = [{ type: 'string', enum: values }, { type: 'string' }];
  return { description: schema.description, anyOf: nullable ? [...known, { type: 'null' }] : known };
});
const types = astToString(await openapiTS(description, { alphabetize: true }));
// TypeScript would make `"a" | string` a string, and no editor would offer "a".
writeFileSync(file, open ? types.replace(/("\)? \| )string( \| null)?;$/gm, '$1(string & {})$2;') : types);
