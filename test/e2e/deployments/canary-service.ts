import { ask, built, deploy, readDeployment, saying, type Deployment } from '../../support/deployments-over-http.js';
import { startFakeModel } from '../../support/fakes/model.js';
import { deployments as base } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';

type Body = { id: string; choices: { message: { content: string } }[] };

/** A plan that only a metric or a person ends. */
export const undecided = { until: 'decided', steps: [50, 100], min_requests: 1, guard: { error_rate: null } };

export const question = (user: string) => ({ user, messages: [{ role: 'user', content: 'Where is my card?' }] });

/** A service for the rollouts of a test file, with a fake model. */
export function canaryServiceOfFile() {
  const on = serviceOfFile(async () => {
    const model = await startFakeModel();
    return { model, env: { RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: model.url }, close: () => model.close() };
  });
  return {
    on,
    /** A name that serves `live`, and a version of it that is rolled out. */
    async begin(name: string, plan: object = undecided, text = 'new'): Promise<{ live: string; next: string }> {
      const live = await deploy(on.service, { name, source: saying(`${name} live`) });
      await built(on.service, live);
      const next = await deploy(on.service, { name, source: saying(`${name} ${text}`), rollout: plan });
      await until('it is rolled out', async () => (await readDeployment(on.service, next)).status === 'rolling_out');
      return { live, next };
    },
    async answered(name: string, user: string): Promise<{ by: string; id: string; status: number }> {
      const response = await ask(on.service, name, question(user));
      const { id } = (await response.json()) as Body;
      return { by: response.headers.get('x-ratchet-deployment-id')!, id, status: response.status };
    },
    command: (ref: string, action: string, reason?: string) =>
      on.service.api.call<NonNullable<Deployment['rollout']>>('POST', `${base}/${ref}/rollout`, { action, reason }),
  };
}
