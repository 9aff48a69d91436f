/** The settings of a create or a change. */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { checkedForCaller } from '../../../access/routes/provider-keys.js';
import type { DeploymentSpec } from '../../../core/jobs/spec.js';
import { providerErrors } from '../../../jobs/routes/specs.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { refuse } from '../../../platform/http/server/errors.js';
import type { settingFields } from '../contract/settings.js';
import type { SettingChanges } from '../store/settings.js';

type SettingsRequest = { [Name in keyof typeof settingFields]?: z.output<(typeof settingFields)[Name]> };

/** Throws if a deployment of this source cannot have them. */
export async function settingsOf(
  deps: HttpDeps,
  request: FastifyRequest,
  { log, fallbacks, limits }: SettingsRequest,
  source: DeploymentSpec['source'],
): Promise<SettingChanges> {
  if (fallbacks) {
    if (source.kind === 'graph') {
      const message = 'is for prompts: each step of a graph has a model of its own';
      throw refuse.invalid([{ pointer: '/fallbacks', message }]);
    }
    const checked = await checkedForCaller(deps, request);
    const errors = fallbacks.models.flatMap((policy, at) =>
      providerErrors(policy, ['fallbacks', 'models', String(at)], checked),
    );
    if (errors.length > 0) throw refuse.invalid(errors);
  }
  return { log, fallbacks, limits };
}
