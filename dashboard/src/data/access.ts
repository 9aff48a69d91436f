/** The API key of this browser. It stays in the storage of the origin; no cookie carries it. */
import { signal } from '@preact/signals';
import { Ratchet } from '../../../src/client/index.js';
import { messageOf } from '../util/format.js';

const stored = 'ratchet.key';
const keyInStorage = localStorage.getItem(stored);

/** null: signed out. */
export const apiKey = signal<string | null>(keyInStorage);
/** Why the last sign-in failed. */
export const signInError = signal<string | null>(null);

/** Keeps a key after the service has accepted it. */
export async function signIn(key: string): Promise<void> {
  try {
    await new Ratchet({ url: location.origin, apiKey: key, maxRetries: 0 }).providers();
    keep(key);
  } catch (error) {
    signInError.value = messageOf(error);
  }
}

export function signOut(reason: string | null = null): void {
  localStorage.removeItem(stored);
  apiKey.value = null;
  signInError.value = reason;
}

/**
 * Signs in with the one-time token of a link `/#login=TOKEN` or `/#login=TOKEN/PAGE`, and replaces
 * the address by that of the page.
 */
export async function followLoginLink(): Promise<void> {
  const [, token, page = '/'] = /^#login=([\w-]+)(\/.*)?$/.exec(location.hash) ?? [];
  if (token === undefined) return;
  // In place of the entry of the history, too.
  location.replace(`#${page}`);
  try {
    const answer = await fetch('/api/v1/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    if (answer.ok) return keep(((await answer.json()) as { api_key: string }).api_key);
    // A used link in a browser that is signed in changes nothing.
    if (apiKey.value === null) signInError.value = await detailOf(answer);
  } catch (error) {
    signInError.value = messageOf(error);
  }
}

// A link that is opened in a tab of the dashboard changes its fragment alone.
addEventListener('hashchange', () => void followLoginLink());

function keep(key: string): void {
  localStorage.setItem(stored, key);
  signInError.value = null;
  apiKey.value = key;
}

async function detailOf(answer: Response): Promise<string> {
  const problem = (await answer.json().catch(() => ({}))) as { detail?: string };
  return problem.detail ?? `The service answered ${answer.status}.`;
}
