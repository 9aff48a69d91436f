/** Parameters of the model that answers: options, and `policy` of the project's file. */
import { z } from 'zod';
import { limitName } from '../../models/client/call-bound.js';
import { ConfigError } from '../../service/config.js';
import { isConnectionField } from '../../contracts/common.js';
import { keySetting, urlSetting } from '../../models/client/addresses/configured.js';
import { modelOf, type Model } from './model-name.js';

export type Parameters = Record<string, unknown>;

export interface ParameterOptions {
  temperature?: number;
  maxTokens?: number;
  /** `name=value`. */
  param?: readonly string[];
}

export const parametersSchema = z.record(z.string(), z.unknown());

/** The parameters of the project's file with those of options, which win. */
export function parametersOf(
  { temperature, maxTokens, param = [] }: ParameterOptions,
  inFile: Parameters,
  model: string,
): Parameters {
  const { provider } = modelOf(model);
  for (const field of Object.keys(inFile)) refuseReserved(field, `policy.${field} in ratchet.json`, provider);
  const given = Object.fromEntries(param.map((text) => parameterOf(text, provider)));
  if (maxTokens === undefined) return { ...inFile, ...(temperature !== undefined && { temperature }), ...given };
  const { max_tokens: _, max_completion_tokens: __, ...others } = inFile;
  return {
    ...others,
    ...(temperature !== undefined && { temperature }),
    [limitName]: maxTokens,
    ...given,
  };
}

/** A policy of the API. */
export function policyOf(model: string, parameters: Parameters = {}): Model & Parameters {
  return { ...parameters, ...modelOf(model) };
}

/** Name and value of `name=value`; a value that is no JSON is a text. */
function parameterOf(text: string, provider: string): [string, unknown] {
  const at = text.indexOf('=');
  const name = text.slice(0, at).trim();
  if (at < 0 || name === '') throw new ConfigError(`--param ${text}: write name=value, such as --param top_p=0.9`);
  refuseReserved(name, `--param ${name}`, provider);
  const value = text.slice(at + 1);
  try {
    return [name, JSON.parse(value)];
  } catch {
    return [name, value];
  }
}

function refuseReserved(name: string, where: string, provider: string): void {
  if (name === 'model' || name === 'provider') throw new ConfigError(`${where}: name the model with --model`);
  if (name === 'messages') throw new ConfigError(`${where}: name the prompt with --prompt`);
  if (isConnectionField(name))
    throw new ConfigError(
      `${where}: is no parameter of the model; set ${keySetting(provider)} and ${urlSetting(provider)} in the environment`,
    );
}
