// Telnyx's own library, unmodified: prints which webhooks of $WEBHOOKS it takes for signed.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const require = createRequire(process.env.CLIENT_HOME + '/');
const { Telnyx } = require('telnyx');

const results = [];
for (const { body, headers } of JSON.parse(readFileSync(process.env.WEBHOOKS))) {
  const client = new Telnyx({ apiKey: 'k', publicKey: process.env.PUBLIC_KEY });
  try {
    const event = await client.webhooks.unwrap(body, { headers });
    results.push({ ok: true, type: event.data?.event_type, call: event.data?.payload?.call_control_id });
  } catch (e) {
    results.push({ ok: false, error: e.message });
  }
}
console.log(JSON.stringify(results));
