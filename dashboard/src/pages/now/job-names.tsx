import type { OpenJob } from '../../data/health/health.js';
import { shortId } from '../../util/format.js';

/** Jobs by name, for what a command touches. */
export function JobNames({ jobs }: { jobs: readonly OpenJob[] }) {
  return (
    <ul class="now-names">
      {jobs.map(({ job_id: id, name, kind }) => (
        <li key={id}>
          <bdi>{name ?? shortId(id)}</bdi> <span class="quiet">{kind}</span>
        </li>
      ))}
    </ul>
  );
}
