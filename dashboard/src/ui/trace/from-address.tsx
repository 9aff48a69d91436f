import { route, setQuery } from '../../router.js';
import { TraceDialog } from './dialog.js';

/** Opens the trace of a rollout over this page; the address keeps it: `trace=evl_x:rol_y`. */
export function openTrace(jobId: string, traceId: string): void {
  setQuery({ trace: `${jobId}:${traceId}` });
}

/** The trace of the address. */
export function TraceFromAddress() {
  const [jobId, traceId] = route.value.query.get('trace')?.split(':') ?? [];
  if (!jobId || !traceId) return null;
  return <TraceDialog key={traceId} jobId={jobId} traceId={traceId} onClose={() => setQuery({ trace: null })} />;
}
