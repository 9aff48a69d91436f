import { useState } from 'preact/hooks';
import { loadTrace } from '../../data/trace.js';
import { useResource, type Resource } from '../../data/resource.js';
import { Fold } from '../fold.js';
import { CallView, Json } from './call.js';
import { Outcome } from './outcome.js';
import { StepsTable } from './steps.js';
import { TimelineView } from './timeline-view.js';
import { isFinished, type Trace } from './types.js';

const pollMs = 2_000;
/** As many model calls begin open. */
const openCalls = 2;

/** A trace, followed until the rollout has an outcome. */
export function useTrace(jobId: string, traceId: string): Resource<Trace> {
  const [isLive, setLive] = useState(false);
  const load = async (signal: AbortSignal) => {
    const trace = await loadTrace(jobId, traceId, signal);
    setLive(!isFinished(trace));
    return trace;
  };
  return useResource(`${jobId} ${traceId}`, load, isLive ? pollMs : null);
}

export function TraceView({ trace, onLeave }: { trace: Trace; onLeave: () => void }) {
  const { calls, steps } = trace;
  return (
    <>
      <Outcome trace={trace} onLeave={onLeave} />
      {calls.length > 0 && (
        <section class="trace-part" aria-label="Timeline">
          <h3>Timeline</h3>
          <TimelineView trace={trace} />
        </section>
      )}
      {steps && steps.length > 0 && (
        <section class="trace-part" aria-label="Steps of the graph">
          <h3>Steps</h3>
          <StepsTable steps={steps} />
        </section>
      )}
      <section class="trace-part" aria-label="Model calls">
        <h3>Model calls</h3>
        {calls.length === 0 && <p class="quiet">No model call went through the service.</p>}
        {calls.map((call, n) => (
          <CallView key={call.call_id} call={call} index={n} isOpen={calls.length <= openCalls} />
        ))}
      </section>
      <Fold summary="The trace as JSON">{() => <Json value={trace} />}</Fold>
    </>
  );
}
