import { useEffect, useRef } from 'preact/hooks';

/** What a key does in review mode; keys stand for several names. */
export type ReviewAction =
  'next' | 'previous' | 'right' | 'wrong' | 'bad_expected' | 'note' | 'corrected' | 'undo' | 'help' | 'close';

const keys: Record<string, ReviewAction> = {
  j: 'next',
  ArrowDown: 'next',
  k: 'previous',
  ArrowUp: 'previous',
  r: 'right',
  w: 'wrong',
  b: 'bad_expected',
  n: 'note',
  c: 'corrected',
  u: 'undo',
  '?': 'help',
  Escape: 'close',
};

/** In the order in which they are listed. */
export const keyWords: [key: string, words: string][] = [
  ['j ↓', 'Next'],
  ['k ↑', 'Previous'],
  ['r', 'The answer is right'],
  ['w', 'The answer is wrong'],
  ['b', 'The expected value is wrong'],
  ['n', 'Note'],
  ['c', 'Write the right answer'],
  ['u', 'Undo'],
  ['?', 'These keys'],
  ['Esc', 'Close'],
];

/** Where keys mean something else. */
const typing = 'input, textarea, select, [contenteditable], dialog';
const scrolling = `${typing}, pre, summary, [role="tab"], [role="region"], .virtual`;

/** Listens to the keys of review mode on the whole page. */
export function useReviewKeys(act: (action: ReviewAction) => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const action = keys[event.key];
      if (action === undefined || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target as Element;
      if (target.closest(event.key.startsWith('Arrow') ? scrolling : typing) || document.querySelector('dialog[open]'))
        return;
      event.preventDefault();
      latest.current(action);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
