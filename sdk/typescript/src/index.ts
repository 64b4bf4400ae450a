/** Client of the Rimewatch API. Every operation of the description is typed; retries, pages, events and the stream are by hand. */
export { Rimewatch } from './client.js';
export type { Answer, Body, Data, Event, Init, Options, Path, Schemas } from './client.js';
export { RimewatchError } from './error.js';
export { verifyWebhook } from './webhook.js';
export type { StreamMessage, Subscription } from './stream.js';
