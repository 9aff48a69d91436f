import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ActionButton } from './basics.js';
import { Dialog } from './dialog.js';

/** A button that says what will happen before it does it. */
export function ConfirmButton(props: {
  label: string;
  title: string;
  /** What the dialog says. */
  children: ComponentChildren;
  run: () => Promise<unknown>;
  kind?: 'plain' | 'danger';
  /** The buttons of the dialog: to do it, and not to. */
  answers?: [string, string];
}) {
  const { label, title, children, run, kind = 'plain' } = props;
  const [yes, no] = props.answers ?? [label, 'Cancel'];
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class={`button button-${kind}`} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && (
        <Dialog title={title} onClose={() => setOpen(false)}>
          {children}
          <div class="actions">
            <ActionButton kind={kind === 'danger' ? 'danger' : 'primary'} run={() => run().then(() => setOpen(false))}>
              {yes}
            </ActionButton>
            <button type="button" class="button" onClick={() => setOpen(false)}>
              {no}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
