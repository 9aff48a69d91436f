/** Faults of a request, in the words of the command: options in place of fields. */
import { ConfigError } from '../../config.js';
import { ApiError } from '../../http/server/errors.js';
import { ApiFailure } from '../service/api.js';

interface FieldFault {
  pointer: string;
  message: string;
}

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
  [/^\/budget\/max_rollouts$/, '--budget'],
  [/^\/budget\/max_cost_usd$/, '--max-cost'],
  [/^\/name$/, '--name'],
  [/^\/tags/, '--tag'],
];

/** Does something that the API may refuse; the refusal of a request becomes a ConfigError. */
export async function inOptions<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const isRefusal = error instanceof ApiError || (error instanceof ApiFailure && error.status === 422);
    if (!isRefusal || error.errors.length === 0) throw error;
    throw new ConfigError([...new Set(error.errors.map(inOption))].join('\n'), { cause: error });
  }
}

function inOption({ pointer, message }: FieldFault): string {
  const field = pointer.replace(/^\/(policy_optimization|config)(?=\/)/, '');
  const found = options.find(([pattern]) => pattern.test(field));
  const path = (text: string) => text.replace(/^\//, '').replaceAll('/', '.');
  if (!found) return `${path(field) || 'the request'}: ${message}`;
  const [pattern, option] = found;
  const rest = path(field.replace(pattern, ''));
  return `${option}: ${rest === '' ? '' : `${rest} `}${message}`;
}
