import { isActive, type Job } from '../../data/job.js';
import { ActionButton } from '../../ui/basics.js';
import { ConfirmButton } from '../../ui/confirm.js';

/** Archives a job, or takes it back into the lists; asks first while it runs. */
export function ArchiveButton(props: { job: Job; kind: string; run: (archived: boolean) => Promise<unknown> }) {
  const { job, kind, run } = props;
  if (job.archived || !isActive(job.status))
    return <ActionButton run={() => run(!job.archived)}>{job.archived ? 'Unarchive' : 'Archive'}</ActionButton>;
  return (
    <ConfirmButton
      label="Archive"
      title={`Archive this ${kind} while it is ${job.status}?`}
      answers={[`Archive the ${kind}`, 'Keep it']}
      run={() => run(true)}
    >
      <p>It leaves the list of runs, but goes on and may cost money. To end it, cancel it.</p>
    </ConfirmButton>
  );
}
