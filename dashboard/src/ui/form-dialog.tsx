import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { errorAt, fieldErrors } from '../data/field-errors.js';
import { Problem } from './basics.js';
import { Dialog } from './dialog.js';

/** A dialog with fields and one call; `children` gets the error at a JSON pointer. */
export function FormDialog(props: {
  title: string;
  submit: string;
  run: () => Promise<unknown>;
  onClose: () => void;
  children: (errorOf: (pointer: string) => string | undefined) => ComponentChildren;
  wide?: boolean;
  more?: ComponentChildren;
}) {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const onSubmit = (event: Event) => {
    event.preventDefault();
    setRunning(true);
    setError(null);
    props
      .run()
      .then(props.onClose, setError)
      .finally(() => setRunning(false));
  };
  return (
    <Dialog title={props.title} onClose={props.onClose} wide={props.wide ?? false}>
      <form onSubmit={onSubmit}>
        {props.children((pointer) => errorAt(fieldErrors(error), pointer))}
        <Problem error={error} />
        <div class="bar">
          <button type="submit" class="button button-primary" disabled={isRunning}>
            {props.submit}
          </button>
          {props.more}
        </div>
      </form>
    </Dialog>
  );
}
