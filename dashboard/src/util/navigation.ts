/** What a change of page means for the reader: title, focus, and how far the page is scrolled. */
import { effect } from '@preact/signals';
import { route } from './router.js';

const product = 'Ratchet';
let path: string | null = null;
/** Whether the heading of the new page takes the focus when it comes. */
let isAwaited = false;
let heading: string | null = null;
/** What stands before the title, as `41 %`. */
let mark: string | null = null;

effect(() => {
  const next = route.value.parts.join('/');
  if (path !== null && next !== path) {
    isAwaited = true;
    heading = null;
    showTitle();
  }
  path = next;
});

// Who goes on by keyboard before the page has its heading is not interrupted.
addEventListener('focusin', () => (isAwaited = false));

export function setTitle(title: string): void {
  heading = title;
  showTitle();
}

/** Puts progress before the title of the page; null: none. */
export function setMark(text: string | null): void {
  mark = text;
  showTitle();
}

function showTitle(): void {
  if (heading === null) document.title = product;
  else document.title = `${mark === null ? '' : `${mark} `}${heading} · ${product}`;
}

/** Moves the focus to the heading of a page that was just opened. */
export function focusHeading(heading: HTMLElement): void {
  if (!isAwaited) return;
  isAwaited = false;
  heading.focus({ preventScroll: true });
}

/** How far each entry of the history was scrolled. */
const places = new Map<string, number>();
const longestWaitMs = 4_000;
let entry = { key: keyOfEntry(), path: route.value.parts.join('/') };
let stopWaiting = (): void => undefined;

history.scrollRestoration = 'manual';
addEventListener('scroll', () => places.set(entry.key, scrollY), { passive: true });
addEventListener('hashchange', () => {
  stopWaiting();
  const isKnown = hasKey(history.state);
  const before = entry;
  entry = { key: keyOfEntry(), path: route.value.parts.join('/') };
  if (isKnown) scrollWhenLongEnough(places.get(entry.key) ?? 0);
  else if (entry.path !== before.path) scrollTo(0, 0);
});

function hasKey(state: unknown): state is { key: string } {
  return typeof state === 'object' && state !== null && 'key' in state;
}

/** A new entry gets a key; the key stays with the entry. */
function keyOfEntry(): string {
  if (hasKey(history.state)) return history.state.key;
  const key = `${Date.now()}-${Math.random()}`;
  history.replaceState({ key }, '');
  return key;
}

/** The data of the page may be on their way; a reader who moves is not moved. */
function scrollWhenLongEnough(top: number): void {
  const until = performance.now() + longestWaitMs;
  const moves = ['wheel', 'keydown', 'pointerdown', 'touchstart'];
  let isOver = false;
  stopWaiting = () => {
    isOver = true;
    for (const move of moves) removeEventListener(move, stopWaiting);
  };
  for (const move of moves) addEventListener(move, stopWaiting, { passive: true });
  const attempt = () => {
    if (isOver) return;
    const isLongEnough = document.documentElement.scrollHeight >= top + innerHeight;
    if (isLongEnough || performance.now() > until) {
      scrollTo(0, top);
      stopWaiting();
    } else requestAnimationFrame(attempt);
  };
  requestAnimationFrame(attempt);
}
