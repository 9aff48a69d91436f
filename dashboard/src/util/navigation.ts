/** What a change of page means for the reader: its title, and the focus on its heading. */
import { effect } from '@preact/signals';
import { route } from './router.js';

const product = 'Ratchet';
let path: string | null = null;
/** Whether the heading of the new page takes the focus when it comes. */
let isAwaited = false;

effect(() => {
  const next = route.value.parts.join('/');
  if (path !== null && next !== path) {
    isAwaited = true;
    document.title = product;
  }
  path = next;
});

// Who goes on by keyboard before the page has its heading is not interrupted.
addEventListener('focusin', () => (isAwaited = false));

export function setTitle(title: string): void {
  document.title = `${title} · ${product}`;
}

/** Moves the focus to the heading of a page that was just opened. */
export function focusHeading(heading: HTMLElement): void {
  if (!isAwaited) return;
  isAwaited = false;
  heading.focus();
}
