import { trimEndOf } from '../../../util/text.js';

const path = '/chat/completions';

/** The address of chat completions below a base URL, or what is wrong with the base. */
export function chatUrl(base: string): { url: string } | { problem: string } {
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol)) {
    return { problem: 'is not an http(s) URL' };
  }
  const url = new URL(base);
  if (url.username !== '' || url.password !== '') {
    return { problem: 'holds a user or a password; give the key in the variable of the key' };
  }
  if (base.includes('#')) return { problem: 'holds a fragment (#…); leave it out' };
  const kept = trimEndOf(url.pathname, '/');
  url.pathname = kept.endsWith(path) ? kept : `${kept}${path}`;
  return { url: url.href };
}

/** The address of the list of models beside one of chat completions. */
export function modelsUrl(chat: string): string {
  const url = new URL(chat);
  url.pathname = `${url.pathname.slice(0, -path.length)}/models`;
  return url.href;
}
