import { route, setQuery } from '../../util/router.js';
import { TraceDialog } from './dialog.js';

/** Opens the trace of a rollout of any job over this page: `trace=evl_x:rol_y`. */
export function openTrace(jobId: string, traceId: string): void {
  setQuery({ trace: `${jobId}:${traceId}` });
}

/** The trace of the address; one without a job is of the job of this page. */
export function TraceFromAddress({ jobId: ofPage }: { jobId?: string }) {
  const [traceId, jobId = ofPage] = route.value.query.get('trace')?.split(':').reverse() ?? [];
  if (!jobId || !traceId) return null;
  return <TraceDialog key={traceId} jobId={jobId} traceId={traceId} onClose={() => setQuery({ trace: null })} />;
}
