import { ConfirmButton } from '../../ui/confirm.js';
import { count, dollars } from '../../util/format.js';
import { againLink } from '../new/form/original.js';

/** Changes the request before it runs once more. */
export function EditAndRun({ id }: { id: string }) {
  return (
    <a class="button" href={againLink(id)}>
      Edit and run
    </a>
  );
}

interface Used {
  usage: { total_cost_usd: number | null };
  progress: { rollouts_completed: number } | { completed: number };
}

/** Asks before a job runs once more, because that costs as much as the first time. */
export function CloneButton({ kind, job, run }: { kind: string; job: Used; run: () => Promise<unknown> }) {
  const { usage, progress } = job;
  const rollouts = 'completed' in progress ? progress.completed : progress.rollouts_completed;
  const cost = usage.total_cost_usd === null ? 'of an unknown cost' : `for ${dollars(usage.total_cost_usd)}`;
  return (
    <ConfirmButton label="Clone" title={`Run this ${kind} again?`} run={run}>
      <p>
        A new {kind} with the same request and the same budget starts now. It calls the models again: this one ran{' '}
        {count(rollouts)} rollouts {cost}.
      </p>
    </ConfirmButton>
  );
}
