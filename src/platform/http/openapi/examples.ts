/** Examples in the document: recorded requests and answers, and one of each failure. */
import { readdirSync, readFileSync } from 'node:fs';
import { failureExamples, failureSchemas, nameOf } from './failures.js';
import { prefix } from './schemas.js';

interface Media {
  schema?: { $ref?: string };
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}
type Content = Record<string, Media>;
interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; example?: unknown }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}
export interface ShownDocument {
  paths?: Record<string, Record<string, Operation>>;
  components?: { examples?: Record<string, object> };
}

/** Of an operation, by parameter, media type and status. A test records them. */
interface Example {
  parameters?: Record<string, unknown>;
  request?: Record<string, unknown>;
  responses: Record<string, Record<string, unknown>>;
}

const folder = new URL('./examples/', import.meta.url);

export function showExamples(document: ShownDocument): void {
  const examples = readExamples();
  const used = new Set<string>();
  for (const operation of Object.values(document.paths ?? {}).flatMap((path) => Object.values(path))) {
    const { parameters = {}, request = {}, responses = {} } = examples[operation.operationId] ?? {};
    for (const parameter of operation.parameters ?? [])
      // The page sends what it shows: optional parameters stay empty.
      if ((parameter.in === 'path' || parameter.required) && parameter.name in parameters)
        parameter.example = parameters[parameter.name];
    show(operation.requestBody?.content, request);
    for (const [status, { content }] of Object.entries(operation.responses)) {
      show(content, responses[status] ?? {});
      for (const name of showFailures(content, status)) used.add(name);
    }
  }
  const shared = [...failureExamples].filter(([name]) => used.has(name));
  document.components = { ...document.components, examples: Object.fromEntries(shared) };
}

function readExamples(): Record<string, Example> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Record<string, Example>;
  return Object.assign({}, ...files.map(read)) as Record<string, Example>;
}

function show(content: Content = {}, values: Record<string, unknown>): void {
  for (const [type, media] of Object.entries(content)) if (type in values) media.example = values[type];
}

/** Refers to the shared example of a failure; returns the names in use. */
function showFailures(content: Content = {}, status: string): string[] {
  return Object.values(content).flatMap((media) => {
    const schema = failureSchemas.find((name) => media.schema?.$ref === prefix + name);
    if (!schema) return [];
    const name = nameOf(status, schema);
    media.examples = { [status]: { $ref: `#/components/examples/${name}` } };
    return [name];
  });
}
