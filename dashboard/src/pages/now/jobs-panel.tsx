import { statusWords } from '../../../../src/core/jobs/status-words.js';
import { commandAll } from '../../data/health/bulk.js';
import type { Health, OpenJob } from '../../data/health/health.js';
import { minute, slowedDown } from '../../data/health/words.js';
import { ActionButton, Badge, Empty, Panel, StuckBadge, Tag, Time } from '../../ui/basics.js';
import { count, dollars, makerOf, pace, shortId, unknown } from '../../util/format.js';
import { pageOf, route, setQuery } from '../../util/router.js';
import { TagActions } from './tag-actions.js';
import { numbers, roomy, Table } from '../../ui/table.js';

/** Open jobs, the longest without a result first. */
export function JobsPanel({ known }: { known: Health }) {
  const tag = route.value.query.get('tag') ?? '';
  const jobs = known.jobs.filter(({ tags }) => tag === '' || tags.includes(tag));
  return (
    <Panel title="Open jobs" aside={<TagActions jobs={known.jobs} tag={tag} />}>
      {jobs.length === 0 && <Empty>No job{tag && ` with tag ${tag}`} runs or is paused.</Empty>}
      {jobs.length > 0 && (
        <Table
          label="Table of open jobs"
          heads={[
            'Job',
            'Status',
            numbers('Answers'),
            roomy(numbers('Per minute')),
            roomy('Last result'),
            'Ends about',
            roomy(numbers('Per hour')),
            roomy('Key'),
            '',
          ]}
        >
          {jobs.map((job) => (
            <JobRow key={job.job_id} job={job} known={known} />
          ))}
        </Table>
      )}
    </Panel>
  );
}

function JobRow({ job, known }: { job: OpenJob; known: Health }) {
  const { job_id: id, name, kind, status, max_rollouts: most } = job;
  const slowed = status === 'running' ? slowedDown(job, known.providers) : null;
  const label = name ?? shortId(id);
  return (
    <tr>
      <td class="run-name">
        <a class="row-link" dir="auto" href={pageOf(id)}>
          {label}
        </a>{' '}
        <span class="quiet">{kind}</span>{' '}
        {job.tags.map((tag) => (
          <button key={tag} type="button" class="tag-button" onClick={() => setQuery({ tag })}>
            <Tag>{tag}</Tag>
          </button>
        ))}
        {slowed !== null && <p class="now-cause">{slowed}</p>}
      </td>
      <td class="short">
        <Badge status={status} text={statusWords(status, job.last_command)} /> <StuckBadge stuck={job.stuck} />
        {job.stalled && <p class="now-cause bad">no result for a minute</p>}
      </td>
      <td class="number">
        {count(job.rollouts_completed)}
        {most !== null && ` / ${count(most)}`}
      </td>
      <td class="number on-roomy">{job.rollouts_per_minute === null ? unknown : pace(job.rollouts_per_minute)}</td>
      <td class="short on-roomy">
        <Time at={job.last_result_at} />
      </td>
      <td class="short">{job.ends_at === null ? unknown : minute(job.ends_at)}</td>
      <td class="number on-roomy">{dollars(job.usd_per_hour)}</td>
      <td class="short quiet on-roomy">{makerOf(job.created_by)}</td>
      <td class="short">
        {status !== 'pending' && (
          <ActionButton
            class="button button-small"
            aria-label={`${status === 'paused' ? 'Resume' : 'Pause'} ${label}`}
            run={() => commandAll(status === 'paused' ? 'resume' : 'pause', [id])}
          >
            {status === 'paused' ? 'Resume' : 'Pause'}
          </ActionButton>
        )}
      </td>
    </tr>
  );
}
