import { eventSchemas } from '../../../src/contracts/events/schema.js';
import { table } from './table.js';

type Fields = Record<string, { isOptional(): boolean }>;

/** Which jobs have an event, by its type. */
function jobsOf(type: string): string {
  if (type.startsWith('eval.')) return 'Evaluations';
  if (type.startsWith('migration_')) return 'Migrations';
  if (type.startsWith('checkup_')) return 'Checkups';
  return /^(deployment_|snapshot_|gate_)/.test(type) ? 'Deployments' : 'Sessions and graph jobs';
}

/** The fields of an event; `?` marks those that may be absent, `or` separates alternatives. */
function fieldsOf(data: unknown): string {
  const { shape, options } = data as { shape?: Fields; options?: unknown[] };
  if (options) return options.map(fieldsOf).join('; or ');
  return Object.entries(shape ?? {})
    .map(([name, field]) => `\`${name}\`${field.isOptional() ? '?' : ''}`)
    .join(', ');
}

/** All events with their fields, a table for each kind of job. */
export function eventTables(): string {
  const events = eventSchemas.map((schema) => {
    const { title, description } = schema.meta() as { title: string; description: string };
    return { type: title, meaning: description, fields: fieldsOf(schema.shape.data) };
  });
  return [...new Set(events.map(({ type }) => jobsOf(type)))]
    .map((jobs) => {
      const rows = events
        .filter(({ type }) => jobsOf(type) === jobs)
        .map(({ type, meaning, fields }) => [`\`${type}\``, meaning, fields]);
      return `### ${jobs}\n\n${table(['event', 'meaning', 'fields of `data`'], rows)}`;
    })
    .join('\n\n');
}
