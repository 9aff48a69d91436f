/** OpenAPI links: from what a request created to the operations on it. */
interface Schema {
  $ref?: string;
  properties?: Record<string, unknown>;
}
interface Link {
  operationId: string;
  parameters: Record<string, string>;
}
interface Response {
  content?: Record<string, { schema?: Schema }>;
  links?: Record<string, Link>;
}
interface Operation {
  operationId: string;
  parameters?: { name: string; in: string }[];
  responses: Record<string, Response>;
}
export interface LinkedDocument {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
}

/**
 * Links the answers of each create to the operations below its collection, to the model calls of a
 * new session, and to the operations on a new organization.
 */
export function linkCreates({ paths = {}, components }: LinkedDocument): void {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, operation })),
  );
  for (const { path, operation } of operations) {
    const { '200': known, '201': created } = operation.responses;
    const fields = created && fieldsOf(created, components);
    if (!fields) continue;
    const links = operations.flatMap((target) => linkTo(target, collectionOf(path), fields) ?? []);
    // A 200 returns the resource that an equal request has created.
    for (const answer of known ? [known, created] : [created])
      answer.links = Object.fromEntries(links.map((link) => [link.operationId, link]));
  }
}

/** The link to an operation, if a created resource has all that names the operation's target. */
function linkTo(
  { path, operation: { operationId, parameters = [] } }: { path: string; operation: Operation },
  collection: string,
  fields: ReadonlySet<string>,
): Link | null {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const ofOrg = parameters.filter(({ name }) => name === 'org_id');
  const isOfSession = inPath.every(({ name }) => name === 'session_id');
  const isBelow = isOfSession || path.startsWith(`${collection}/{`);
  if (inPath.length > 0 ? !isBelow : ofOrg.length === 0) return null;
  const filled = [...inPath, ...ofOrg].map(({ name }) => [name, fieldFor(name, fields)] as const);
  if (filled.some(([, field]) => field === null)) return null;
  return {
    operationId,
    parameters: Object.fromEntries(filled.map(([name, field]) => [name, `$response.body#/${field}`])),
  };
}

/** The collection in which an operation creates: a clone or a rotation, in that of its original. */
function collectionOf(path: string): string {
  return path.replace(/\/\{\w+\}\/\w+$/, '');
}

/** The field of a created resource that fills a parameter; a deployment's id is `id` alone. */
function fieldFor(parameter: string, fields: ReadonlySet<string>): string | null {
  if (fields.has(parameter)) return parameter;
  return parameter === 'deployment_id' && fields.has('id') ? 'id' : null;
}

function fieldsOf({ content }: Response, components: LinkedDocument['components']): Set<string> | null {
  const schema = content?.['application/json']?.schema;
  const name = schema?.$ref?.split('/').at(-1);
  const { properties } = (name ? components?.schemas?.[name] : schema) ?? {};
  return properties ? new Set(Object.keys(properties)) : null;
}
