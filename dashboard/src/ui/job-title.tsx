import { shortId } from '../format.js';
import { link } from '../router.js';
import { Badge, Tag } from './basics.js';

/** The heading of a job's page: its name, status and tags. */
export function JobTitle({
  job,
}: {
  job: { job_id: string; name: string | null; status: string; archived: boolean; tags: string[] };
}) {
  return (
    <h1>
      {job.name ?? shortId(job.job_id)} <Badge status={job.status} />
      {job.archived && <Tag>archived</Tag>}
      {job.tags.map((tag) => (
        <a key={tag} class="plain-link" href={link([], { tag })}>
          <Tag>{tag}</Tag>
        </a>
      ))}
    </h1>
  );
}
