// Writes the types of the API's description. Enumerations of answers are open there, since servers
// of later versions may know more values. This page comes with its server, so to it they are closed.
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';

const description = JSON.parse(readFileSync('openapi.json', 'utf8'), (_, value) => {
  if (!Array.isArray(value?.['x-extensible-enum'])) return value;
  const { 'x-extensible-enum': values, ...schema } = value;
  return { ...schema, enum: schema.type.includes('null') ? [...values, null] : values };
});
writeFileSync('src/api/schema.d.ts', astToString(await openapiTS(description, { alphabetize: true })));
