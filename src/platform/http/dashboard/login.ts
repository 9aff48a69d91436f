import { z } from 'zod';
import { announceChange, settleChange, withdrawChange } from '../../../access/store/audit-log.js';
import { bootstrapId } from '../../../access/store/keys.js';
import { operatorOrg } from '../../../access/store/orgs.js';
import type { App, HttpDeps } from '../deps.js';
import { ApiError } from '../server/errors.js';
import type { LoginTokens } from './login-tokens.js';

const path = '/api/v1/login';
/** A token and its name; strangers may send it. */
const bodyLimit = 1_024;
const loginSchema = z.strictObject({ token: z.string().min(1).max(200) });

/**
 * The exchange of a login link for the API key: the only public route with a body. Reads none while
 * no link is open.
 */
export function registerLogin(app: App, { db }: Pick<HttpDeps, 'db'>, tokens: LoginTokens): void {
  app.post(
    path,
    {
      bodyLimit,
      config: { idempotency: 'none' },
      schema: { hide: true, body: loginSchema },
      preParsing: (_request, _reply, payload, done) => done(tokens.anyUnused() ? null : used(), payload),
    },
    async (request, reply) => {
      const { token } = request.body;
      if (!tokens.isUnused(token)) throw used();
      const keyId = bootstrapId(operatorOrg);
      const entry = { orgId: operatorOrg, keyId, targetOrg: null, action: `POST ${path}`, params: {} };
      const id = await db.org(operatorOrg, (tx) => announceChange(tx, { ...entry, ...request.ids }));
      const key = tokens.exchange(token);
      await db.org(operatorOrg, (tx) => (key === null ? withdrawChange(tx, id) : settleChange(tx, id, 200, null)));
      if (key === null) throw used();
      return reply.header('cache-control', 'no-store').send({ api_key: key });
    },
  );
}

function used(): ApiError {
  const detail = 'This login link was used or has expired; sign in with an API key, or start the service again.';
  return new ApiError(401, 'login_link_used', detail);
}
