import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ActionButton } from './basics.js';
import { Dialog } from './dialog.js';

/** What is asked before something is done. */
export interface Question {
  title: string;
  text: ComponentChildren;
  /** The buttons of the dialog: to do it, and not to. */
  answers: [string, string];
}

type Kind = 'plain' | 'danger';

/** Says what will happen before it is done. */
export function ConfirmDialog(props: {
  question: Question;
  kind: Kind;
  run: () => Promise<unknown>;
  onClose: () => void;
}) {
  const { question, kind, run, onClose } = props;
  const [yes, no] = question.answers;
  return (
    <Dialog title={question.title} onClose={onClose}>
      {question.text}
      <div class="actions">
        <ActionButton kind={kind === 'danger' ? 'danger' : 'primary'} run={() => run().then(onClose)}>
          {yes}
        </ActionButton>
        <button type="button" class="button" onClick={onClose}>
          {no}
        </button>
      </div>
    </Dialog>
  );
}

/** A button that says what will happen before it does it. */
export function ConfirmButton(props: {
  label: string;
  title: string;
  /** What the dialog says. */
  children: ComponentChildren;
  run: () => Promise<unknown>;
  kind?: Kind;
  answers?: [string, string];
}) {
  const { label, title, children: text, run, kind = 'plain', answers = [label, 'Cancel'] } = props;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class={`button button-${kind}`} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && (
        <ConfirmDialog question={{ title, text, answers }} kind={kind} run={run} onClose={() => setOpen(false)} />
      )}
    </>
  );
}
