import { read } from '../pages.js';
import { table } from './table.js';

interface Operation {
  summary: string;
  tags: [string];
}

/** The page that explains an operation: that of the first pattern, else that of its tag. */
const explained: [path: RegExp, page: string][] = [
  [/\/(clone|request)$/, 'jobs.md#clones'],
  [/\/traces/, 'jobs.md#traces'],
  [/\/extend$/, 'sessions.md#going-on-after-the-end'],
  [/\/hint$/, 'sessions.md#prompts-and-hints-of-your-own'],
  [/\/events/, 'events.md'],
  [/deployments\/.*chat|\/v1\/chat|\/v1\/models/, 'deployments.md'],
  [/\/reward$/, 'inference.md#rewards'],
  [/\/(pause|resume|cancel)$/, 'jobs.md#states'],
  [/\/candidates|\/pareto$|\/levers|\/sensor-frames$/, 'candidates.md'],
  [/\/sessions\/\{session_id\}\/prompt$/, 'inference.md'],
  [/\/limits$/, 'access.md#limits'],
  [/\/provider-keys/, 'access.md#provider-keys'],
  [/\/audit-log/, 'access.md#audit-log'],
  [/\/readyz|\/livez/, '../operations.md#health-and-metrics'],
  [/\/v1\/health$/, 'health.md'],
  [/\/providers$/, 'providers.md'],
];
const pageOfTag: Record<string, string> = {
  Service: 'README.md',
  Sessions: 'sessions.md',
  Evaluations: 'evaluations.md',
  'Graph jobs': 'graphs.md',
  Deployments: 'deployments.md',
  Migrations: 'migrations.md',
  Checkups: 'checkups.md',
  Schedules: 'schedules.md',
  Inference: 'inference.md',
  Comparison: 'compare.md',
  Runs: 'runs.md',
  Reviews: 'reviews.md',
  Webhooks: 'jobs.md#webhooks',
  Access: 'access.md',
  'Data sets': 'datasets.md',
};

/** All operations of the OpenAPI document, a table for each tag. */
export function routeTables(): string {
  const { paths } = JSON.parse(read('docs/openapi.json')) as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, tags }]) => ({ path, method, summary, tag: tags[0] })),
  );
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  return tags
    .map((tag) => {
      const rows = operations
        .filter((operation) => operation.tag === tag)
        .map(({ path, method, summary }) => {
          const page = explained.find(([pattern]) => pattern.test(path))?.[1] ?? pageOfTag[tag];
          if (page === undefined) throw new Error(`The tag "${tag}" has no page.`);
          const name = page.replace(/^.*\//, '').replace(/\.md(#.*)?$/, '');
          return [`\`${method.toUpperCase()} ${path}\``, summary.replaceAll('|', '\\|'), `[${name}](${page})`];
        });
      return `### ${tag}\n\n${table(['method and path', 'what it does', 'page'], rows)}`;
    })
    .join('\n\n');
}
