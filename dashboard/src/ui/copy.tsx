import { useState } from 'preact/hooks';

type State = 'ready' | 'copied' | 'failed';

/** An id, with a button that copies it. */
export function CopyId({ id }: { id: string }) {
  return (
    <span class="copy-id">
      <code>{id}</code> <Copy text={id} name={`Copy the id ${id}`} />
    </span>
  );
}

/** Copies the address of the page as it is shown. */
export function CopyLink() {
  return <Copy text={() => location.href} label="Copy link" />;
}

/** Text that a click copies; `name`: for screen readers, where the label says too little. */
export function Copy(props: { text: string | (() => string); label?: string; name?: string }) {
  const { text, label = 'Copy', name } = props;
  const [state, setState] = useState<State>('ready');
  const show = (result: State) => {
    setState(result);
    setTimeout(() => setState('ready'), 1_500);
  };
  const onClick = ({ currentTarget }: { currentTarget: HTMLElement }) =>
    void copyText(typeof text === 'string' ? text : text(), currentTarget).then(
      () => show('copied'),
      () => show('failed'),
    );
  return (
    <button
      type="button"
      class="button button-small copy-button"
      aria-label={state === 'ready' ? name : undefined}
      onClick={onClick}
    >
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
