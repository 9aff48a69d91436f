import { milliseconds } from '../../util/format.js';
import type { Trace } from './types.js';
import { timelineOf } from './timeline.js';

/** When each model call of the rollout ran, as bars on one scale. */
export function TimelineView({ trace }: { trace: Trace }) {
  const { totalMs, bars } = timelineOf(trace);
  const share = (ms: number) => `${totalMs === 0 ? 0 : (100 * ms) / totalMs}%`;
  return (
    <ol class="timeline" aria-label={`Model calls within ${milliseconds(totalMs)}`}>
      {bars.map(({ id, label, startMs, ms }) => (
        <li key={id}>
          <span class="timeline-label">{label}</span>
          <span class="timeline-track">
            <span class="timeline-bar" style={{ left: share(startMs), width: share(ms) }} />
          </span>
          <span class="timeline-figure">
            +{milliseconds(startMs)}, {milliseconds(ms)}
          </span>
        </li>
      ))}
    </ol>
  );
}
