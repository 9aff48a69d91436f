import { computed } from '@preact/signals';
import { Ratchet } from '../../../src/client/index.js';
import { apiKey, signOut } from './access.js';
import { noteAnswer, noteSilence } from './connection.js';

/** The client of this page's service, with the key of the browser. */
export const client = computed(
  () => new Ratchet({ url: location.origin, apiKey: apiKey.value ?? undefined, fetch: fetchWith(apiKey.value) }),
);

/** Signs out when the key is refused, unless the browser has another one by then. */
const fetchWith =
  (key: string | null) =>
  async (url: string, init: RequestInit): Promise<Response> => {
    const answer = await fetch(url, init).catch((error: unknown) => {
      noteSilence(init.signal);
      throw error;
    });
    noteAnswer();
    if (answer.status === 401 && apiKey.peek() === key) signOut('The API key is not valid any more; sign in again.');
    return answer;
  };
