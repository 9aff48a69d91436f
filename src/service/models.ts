import { hideKeys } from '../clients/net/untrusted.js';
import { CallMeter } from '../health/store/call-meter.js';
import { createProviders, type ModelTry } from '../models/client/providers.js';
import { outcomeOfTry } from '../models/client/try-outcome.js';
import { createProviderKeys } from '../access/store/provider-keys.js';
import { createSpendCheck } from '../access/store/spend-quota.js';
import { version } from './version.js';
import type { Shared } from './parts.js';

/** Prepares the calls of models: keys and quotas of organizations, metrics, traces. */
export async function prepareModels({
  config,
  log,
  life,
  secretKey,
  db,
  metrics,
}: Omit<Shared, 'providers' | 'tracing' | 'publicUrl'>): Promise<Pick<Shared, 'providers' | 'tracing'>> {
  const meter = new CallMeter(db, log);
  life.onStop(() => meter.close());
  const providers = createProviders(config.env, {
    allowLocal: config.allowLocalProvider,
    readOwnKey: createProviderKeys(db, secretKey),
    checkSpend: createSpendCheck(db, (err) => log.warn({ err }, 'the spend of the day is not read yet; retrying')),
    observer: {
      retry: metrics.retry,
      modelCall: (call, payer) => {
        metrics.modelCall(call);
        if (payer) countTry(meter, payer.orgId, call);
      },
    },
    maxAnswerBytes: config.maxAnswerBytes,
  });
  life.onStop(() => providers.close());
  if (!config.tracing) return { providers, tracing: null };
  // A service without a collector does not pay for OpenTelemetry's SDK.
  const { startTracing } = await import('../tracing/otel.js');
  const { captureContent } = config.tracing;
  const addressOf = (name: string) => providers.addressOf(name);
  const tracing = startTracing({ captureContent, hide: hideKeys, addressOf, version, log });
  life.onStop(() => tracing.stop());
  return { providers, tracing };
}

function countTry(meter: CallMeter, orgId: string, { provider, model, status, code, seconds }: ModelTry): void {
  const outcome = outcomeOfTry(status, code);
  if (!outcome) return;
  const latencyMs = seconds * 1_000;
  meter.count(orgId, { provider, model, latencyMs, ...(outcome.is !== 'ok' && { trouble: outcome }) });
}
