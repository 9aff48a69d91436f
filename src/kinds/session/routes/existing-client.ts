/** The forms in which the existing public client sends a session, read as that of the document. */
import { z } from 'zod';
import { ignoredFields } from '../../../contracts/common.js';
import { createSessionSchema, policyOptimizationSchema } from '../contract/create.js';
import { runAlways, valueAt } from '../../../contracts/validation.js';
import { isObject } from '../../../util/json.js';
import { pointerOf } from '../../../platform/http/server/errors.js';
import { fromIssues } from '../../../platform/http/server/faults.js';
import type { Form } from '../../../platform/http/server/forms.js';

const names = ['policy_optimization', 'prompt_learning'] as const;
const wrappers = ['config_body', 'config'] as const;
const holders = [[], ...wrappers.map((name) => [name])];
const urlNames = ['container_url', 'task_app_url', 'localapi_url'] as const;
type UrlName = (typeof urlNames)[number];

const wrapperSchema = z.strictObject({ policy_optimization: z.unknown(), prompt_learning: z.unknown() }).partial();

/** What surrounds the optimization, and what two names say. */
const sentSchema = z
  .looseObject({ config_body: wrapperSchema.nullish(), config: wrapperSchema.nullish() })
  .superRefine((sent: unknown, ctx) => {
    const refuse = (path: string[], message: string) => ctx.addIssue({ code: 'custom', path, message });
    const [place, second] = placesIn(sent);
    if (!place) return;
    if (second) refuse(second, `duplicates ${place.join('.')}; give only one`);
    const optimization = valueAt(sent, ...place);
    const urls = new Set(urlNamesIn(optimization).map((name) => valueAt(optimization, name)));
    if (urls.size > 1)
      refuse(
        [...place, 'container_url'],
        'differs from the URL in another of container_url, task_app_url and localapi_url; give only one',
      );
  }, runAlways);

/** Takes the optimization out of its wrapper, and gives its container's URL one name. */
export function sessionForm(sent: unknown): Form {
  const schema = createSessionSchema;
  if (!isObject(sent)) return { schema, body: sent };
  const [place] = placesIn(sent);
  const misplaced = place ? null : misplacedFields(sent);
  if (misplaced) return { schema: misplaced, body: sent };
  const errors = fromIssues(sentSchema.safeParse(sent).error?.issues ?? [], sentSchema).errors;
  const body = without(sent, [...names, ...wrappers, ...Object.keys(ignoredFields)]);
  if (!place) return { schema, body, errors };
  const optimization = valueAt(sent, ...place);
  const [urlName = 'container_url'] = urlNamesIn(optimization);
  return {
    schema,
    body: { ...body, policy_optimization: isObject(optimization) ? withUrl(optimization, urlName) : optimization },
    errors,
    moves: [
      ['/policy_optimization/container_url', pointerOf([...place, urlName])],
      ['/policy_optimization', pointerOf(place)],
    ],
  };
}

const withUrl = (optimization: Record<string, unknown>, name: UrlName) => {
  return { ...without(optimization, urlNames), container_url: optimization[name] };
};

/** Where the optimization stands; more than one place is a fault. */
function placesIn(sent: unknown): string[][] {
  const places = holders.flatMap((holder) => names.map((name) => [...holder, name]));
  return places.filter((place) => (valueAt(sent, ...place) ?? null) !== null);
}

const urlNamesIn = (optimization: unknown) => urlNames.filter((name) => (valueAt(optimization, name) ?? null) !== null);

function without(object: Record<string, unknown>, dropped: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !dropped.includes(name)));
}

/** Refuses a body whose fields stand outside the optimization: one error says where they go. */
function misplacedFields(sent: unknown): z.ZodType | null {
  const known = new Set<string>([...Object.keys(policyOptimizationSchema.shape), ...urlNames]);
  for (const holder of holders) {
    const given = valueAt(sent, ...holder);
    const fields = isObject(given) ? Object.keys(given).filter((name) => known.has(name)) : [];
    if (fields.length === 0) continue;
    const message = `is required; put ${fields.sort().join(', ')} inside it`;
    const path = [...holder, 'policy_optimization'];
    return z.unknown().superRefine((_sent, ctx) => ctx.addIssue({ code: 'custom', path, message }));
  }
  return null;
}
