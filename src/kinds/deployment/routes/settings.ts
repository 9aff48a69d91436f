/** The settings of a create or a change. */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { checkedForCaller } from '../../../access/routes/provider-keys.js';
import { providerErrors } from '../../../jobs/routes/specs.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { refuse } from '../../../platform/http/server/errors.js';
import type { changeFields } from '../contract/settings.js';
import type { SettingChanges } from '../store/settings.js';

type SettingsRequest = { [Name in keyof typeof changeFields]?: z.output<(typeof changeFields)[Name]> };

/** Throws if a provider of a fallback is not usable. */
export async function settingsOf(
  deps: HttpDeps,
  request: FastifyRequest,
  { log, fallbacks, limits }: SettingsRequest,
): Promise<SettingChanges> {
  if (fallbacks?.models) {
    const checked = await checkedForCaller(deps, request);
    const errors = fallbacks.models.flatMap((policy, at) =>
      providerErrors(policy, ['fallbacks', 'models', String(at)], checked),
    );
    if (errors.length > 0) throw refuse.invalid(errors);
  }
  return { log, fallbacks, limits };
}
