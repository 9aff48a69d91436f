import type { ComponentChildren } from 'preact';
import { ConfirmButton } from '../../ui/confirm.js';

/** Asks before a job is cancelled; `children` says what the job leaves undone. */
export function CancelButton(props: { kind: string; run: () => Promise<unknown>; children: ComponentChildren }) {
  const { kind, run, children } = props;
  return (
    <ConfirmButton
      label="Cancel"
      title={`Cancel this ${kind}?`}
      answers={[`Cancel the ${kind}`, 'Keep it']}
      kind="danger"
      run={run}
    >
      <p>{children} What it has found stays.</p>
    </ConfirmButton>
  );
}
