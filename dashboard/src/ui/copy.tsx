import { useState } from 'preact/hooks';

type State = 'ready' | 'copied' | 'failed';

/** Text that a click copies. */
export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [state, setState] = useState<State>('ready');
  const show = (result: State) => {
    setState(result);
    setTimeout(() => setState('ready'), 1_500);
  };
  const onClick = ({ currentTarget }: { currentTarget: HTMLElement }) =>
    void copyText(text, currentTarget).then(
      () => show('copied'),
      () => show('failed'),
    );
  return (
    <button type="button" class="button button-small" onClick={onClick}>
      {{ ready: label, copied: 'Copied', failed: 'Not copied' }[state]}
    </button>
  );
}

/** Copies a text; `button`: the one that was clicked. */
export async function copyText(text: string, button = document.activeElement as HTMLElement): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(text);
  // Without TLS browsers copy only what is selected; beside the button, for a modal dialog.
  const area = document.createElement('textarea');
  area.className = 'visually-hidden';
  area.value = text;
  button.after(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  button.focus();
  if (!isCopied) throw new Error('The browser does not copy.');
}
