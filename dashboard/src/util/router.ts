/** Addresses of pages, in the fragment: `#/sessions/ses_x?tab=events`. */
import { computed, signal } from '@preact/signals';
import { jobKinds, kindOf } from '../../../src/core/jobs/kinds.js';

const fragment = signal(location.hash);
addEventListener('hashchange', () => (fragment.value = location.hash));

export interface Route {
  /** The parts of the path, decoded: `['sessions', 'ses_x']`. */
  parts: string[];
  query: URLSearchParams;
}

export const route = computed<Route>(() => {
  const [path = '', query = ''] = fragment.value.replace(/^#\/?/, '').split('?');
  return { parts: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
});

/** A part of an address; one that is cut or typed wrong stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The link to a page; empty values of the query are left out. */
export function link(parts: string[], query: Record<string, string | null | undefined> = {}): string {
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const search = new URLSearchParams(pairs).toString();
  return `#/${parts.map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}

export function go(to: string): void {
  location.hash = to;
}

/** The link to this page with a changed query; null removes a name. */
export function here(changes: Record<string, string | null>): string {
  const { parts, query } = route.value;
  return link(parts, { ...Object.fromEntries(query), ...changes });
}

/** Changes the query of this page without a new entry in the history. */
export function setQuery(changes: Record<string, string | null>): void {
  history.replaceState(history.state, '', here(changes));
  fragment.value = location.hash;
}

/** The page of a job or deployment. */
export function pageOf(id: string, query?: Record<string, string | null | undefined>): string {
  return link([jobKinds[kindOf(id)!].page, id], query);
}
