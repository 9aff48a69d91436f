/** Faults of a request, in the words of the command: options in place of fields. */
import { RatchetError, type FieldError } from '../../client/index.js';
import { ConfigError } from '../../service/config.js';
import { ApiError } from '../../platform/http/server/errors.js';

/** Fields of the requests and their options; the first that fits counts. */
const options: readonly (readonly [field: RegExp, option: string])[] = [
  [/^\/dataset\/input/, '--input'],
  [/^\/dataset\/expected/, '--expected'],
  [/^\/(dataset|seeds)/, '--data'],
  [/^\/scorer/, '--scorer'],
  [/^\/policy\/(provider|model)$/, '--model'],
  [/^\/policy\/temperature$/, '--temperature'],
  [/^\/policy\/max_(completion_)?tokens$/, '--max-tokens'],
  [/^\/policy/, '--param'],
  [/^\/proposer(\/(provider|model)$)?/, '--proposer'],
  [/^\/(initial_prompt|candidate)(\/messages)?/, '--prompt'],
  [/^(\/budget)?\/max_rollouts$/, '--budget'],
  [/^(\/budget)?\/max_cost_usd$/, '--max-cost'],
  [/^\/to\/(provider|model)$/, '--to'],
  [/^\/to(?=\/)/, '--param'],
  [/^\/to$/, '--to'],
  [/^\/max_loss$/, '--max-loss'],
  [/^\/optimize$/, '--no-optimize'],
  [/^\/max_change$/, '--max-change'],
  [/^\/traffic\/limit$/, '--requests'],
  [/^\/traffic\/max_age$/, '--max-age'],
  [/^\/cron$/, '--cron'],
  [/^\/every$/, '--every'],
  [/^\/timezone$/, '--timezone'],
  [/^\/max_cost_usd_per_month$/, '--max-cost-per-month'],
  [/^\/name$/, '--name'],
  [/^\/tags/, '--tag'],
];

/** Does something that the API may refuse; the refusal of a request becomes a ConfigError. */
export async function inOptions<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const faults = faultsOf(error);
    if (faults.length === 0) throw error;
    throw new ConfigError([...new Set(faults.map(inOption))].join('\n'), { cause: error });
  }
}

/** The faulty fields of a refusal, by a check of this package or by the service. */
function faultsOf(error: unknown): readonly FieldError[] {
  if (error instanceof ApiError) return error.errors;
  return error instanceof RatchetError && error.status === 422 ? error.fieldErrors : [];
}

function inOption({ pointer, message }: FieldError): string {
  const field = pointer.replace(/^(\/(policy_optimization|config|checkup|improve))+(?=\/)/, '');
  const found = options.find(([pattern]) => pattern.test(field));
  const path = (text: string) => text.replace(/^\//, '').replaceAll('/', '.');
  if (!found) return `${path(field) || 'the request'}: ${message}`;
  const [pattern, option] = found;
  const rest = path(field.replace(pattern, ''));
  return `${option}: ${rest === '' ? '' : `${rest} `}${message}`;
}
