// Where readings come from, and the senders of each that wait to be accepted.
import { api, ask, type Schemas } from '../../api/client';

export type Source = Schemas['SourceJSON'];

/** sources lists where readings come from. */
export async function sources(): Promise<Source[]> {
  return (await ask(api.GET('/v1/sources'))).sources;
}

/** held is one page of the senders of a source that wait. */
export async function held(id: number) {
  return ask(api.GET('/v1/sources/{id}/held', { params: { path: { id: String(id) }, query: { page: 1, per_page: 100 } } }));
}
