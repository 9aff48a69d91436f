import { commandAll, type BulkCommand } from '../../data/health/bulk.js';
import type { OpenJob } from '../../data/health/health.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { setQuery } from '../../util/router.js';
import { JobNames } from './job-names.js';

/** Narrows the open jobs to a tag, and pauses or resumes those that have it. `tag` '': all jobs. */
export function TagActions({ jobs, tag }: { jobs: readonly OpenJob[]; tag: string }) {
  const tags = [...new Set([...jobs.flatMap((job) => job.tags), ...(tag === '' ? [] : [tag])])].sort();
  if (tags.length === 0) return null;
  const tagged = jobs.filter((job) => job.tags.includes(tag));
  return (
    <div class="actions">
      <label class="now-tag">
        Tag{' '}
        <select value={tag} onChange={(event) => setQuery({ tag: event.currentTarget.value || null })}>
          <option value="">All jobs</option>
          {tags.map((name) => (
            <option key={name} value={name} selected={name === tag}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <CommandTagged command="pause" tag={tag} jobs={tagged.filter(({ status }) => status === 'running')} />
      <CommandTagged command="resume" tag={tag} jobs={tagged.filter(({ status }) => status === 'paused')} />
    </div>
  );
}

const verbs: Record<BulkCommand, string> = { pause: 'Pause', resume: 'Resume' };

/** `jobs`: what the command touches. */
function CommandTagged({ command, tag, jobs }: { command: BulkCommand; tag: string; jobs: readonly OpenJob[] }) {
  if (jobs.length === 0) return null;
  const count = jobs.length === 1 ? '1 job' : `${jobs.length} jobs`;
  const ids = jobs.map(({ job_id: id }) => id);
  return (
    <ConfirmButton
      label={`${verbs[command]} all with tag ${tag}`}
      title={`${verbs[command]} ${count} with tag ${tag}`}
      run={() => commandAll(command, ids)}
    >
      <JobNames jobs={jobs} />
      {command === 'pause' && <p class="quiet">What is in flight ends.</p>}
    </ConfirmButton>
  );
}
