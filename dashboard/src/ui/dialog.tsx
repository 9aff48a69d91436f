import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A modal dialog; Escape and a click beside it close it. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null);
  const beganBeside = useRef(false);
  useEffect(() => ref.current?.showModal(), []);
  return (
    <dialog
      ref={ref}
      class={props.wide ? 'dialog dialog-wide' : 'dialog'}
      aria-label={props.title}
      onClose={props.onClose}
      // A selection of text may end beside the dialog: only a click that began there counts.
      onPointerDown={(event) => (beganBeside.current = event.target === ref.current)}
      onClick={(event) => beganBeside.current && event.target === ref.current && ref.current?.close()}
    >
      <header class="panel-head">
        <h2>{props.title}</h2>
        <button type="button" class="button button-small" aria-label="Close" onClick={() => ref.current?.close()}>
          ✕
        </button>
      </header>
      <div class="dialog-body">{props.children}</div>
    </dialog>
  );
}
