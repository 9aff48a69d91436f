import { computed } from '@preact/signals';
import { Ratchet } from '../../src/client/index.js';
import { apiKey, signOut } from './access.js';

/** The client of this page's service, with the key of the browser. */
export const client = computed(
  () => new Ratchet({ url: location.origin, apiKey: apiKey.value ?? undefined, fetch: fetchSignedIn }),
);

async function fetchSignedIn(url: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(url, init);
  if (answer.status === 401) signOut('The API key is not valid any more; sign in again.');
  return answer;
}
