import { Loading, Problem } from '../basics.js';
import { Dialog } from '../dialog.js';
import type { Trace } from './types.js';
import { TraceView, useTrace } from './view.js';

/** A rollout with its model calls; follows it until it has an outcome. */
export function TraceDialog(props: { jobId: string; traceId: string; onClose: () => void }) {
  const { jobId, traceId, onClose } = props;
  const { data: trace, error } = useTrace(jobId, traceId);
  return (
    <Dialog title={trace ? titleOf(trace) : 'Trace'} onClose={onClose} wide>
      <Problem error={error} />
      {!trace && !error && <Loading />}
      {trace && <TraceView trace={trace} onLeave={onClose} />}
    </Dialog>
  );
}

const titleOf = ({ task_id, seed, rollout_idx }: Trace): string => {
  if (task_id !== undefined) return `Trace of task ${task_id}`;
  return seed === null ? `Trace of answer ${rollout_idx}` : `Trace of row ${seed}`;
};
