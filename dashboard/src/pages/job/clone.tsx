import { ConfirmButton } from '../../ui/confirm.js';

/** Asks before a job runs once more, because that costs as much as the first time. */
export function CloneButton({ kind, run }: { kind: string; run: () => Promise<unknown> }) {
  return (
    <ConfirmButton label="Clone" title={`Run this ${kind} again?`} run={run}>
      <p>
        A new {kind} with the same request and the same budget starts now. It calls the models again, so it may cost as
        much as this one.
      </p>
    </ConfirmButton>
  );
}
