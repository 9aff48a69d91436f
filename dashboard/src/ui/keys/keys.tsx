import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Dialog } from '../dialog.js';
import { Palette } from './palette.js';

const opened = signal<'palette' | 'keys' | null>(null);

const keys: [keys: string[], effect: string][] = [
  [['Ctrl K', '⌘ K'], 'go to a page, run, data set or deployment'],
  [['/'], 'search on this page'],
  [['?'], 'this list'],
  [['←', '→'], 'the tab before or after; in drawings the part before or after'],
  [['Esc'], 'close a dialog'],
];

/** The keys of all pages, and the dialogs that they open. */
export function Keys() {
  useEffect(() => {
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  const close = () => (opened.value = null);
  if (opened.value === 'palette') return <Palette onClose={close} />;
  if (opened.value === null) return null;
  return (
    <Dialog title="Keys" onClose={close}>
      <dl class="keys">
        {keys.map(([names, effect]) => (
          <div key={effect}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

function onKeyDown(event: KeyboardEvent): void {
  if (document.querySelector('dialog[open]')) return;
  const { key, ctrlKey, metaKey, altKey } = event;
  if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k') {
    event.preventDefault();
    opened.value = 'palette';
    return;
  }
  if (ctrlKey || metaKey || altKey || isTyping(event.target)) return;
  if (key === '?') opened.value = 'keys';
  else if (key === '/') search();
  else return;
  event.preventDefault();
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest('input:not([type=checkbox], [type=radio]), textarea, select') !== null;

/** To the search of the page; without one, to that of all pages. */
function search(): void {
  const field = document.querySelector<HTMLInputElement>('main input[type=search]');
  if (!field) return void (opened.value = 'palette');
  field.focus();
  field.select();
}
