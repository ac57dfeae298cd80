// STAND-IN for Open WebUI, which is gigabytes. It refuses an environment that the real one would not serve under, asks the gateway for
// its models as that one does, and tells what it saw.
const { createServer } = require('node:http');
const { HOST, PORT, OPENAI_API_BASE_URL: base, OPENAI_API_KEY: key, ...env } = process.env;

const refuse = (why) => {
  console.error(`error: ${why}`);
  process.exit(2);
};
if (!HOST || !PORT || !base?.endsWith('/v1')) refuse('no address');
if (env.ENABLE_PERSISTENT_CONFIG !== 'False') refuse('settings of the database would win');
if (!env.WEBUI_SECRET_KEY || !['True', 'False'].includes(env.WEBUI_AUTH)) refuse('no sign-in');
const ours = Object.keys(env).filter((name) => name.startsWith('SVC_'));
if (ours.length > 0) refuse(`variables that are not for it: ${ours}`);
for (const part of ['RAG', 'AUDIO_STT', 'AUDIO_TTS', 'AUDIO_REALTIME', 'IMAGES', 'IMAGES_EDIT'])
  if (env[`${part}_OPENAI_API_BASE_URL`] !== base) refuse(`${part} would use a provider`);

const getJson = async (path) => {
  const answer = await fetch(base + path, { headers: { authorization: `Bearer ${key}` } });
  const body = await answer.json();
  return { status: answer.status, ids: body.data?.map(({ id }) => id) ?? [] };
};
createServer(async (req, res) => {
  const send = (value) => res.setHeader('content-type', 'application/json').end(JSON.stringify(value));
  if (req.url === '/health') return send({ status: true });
  if (req.url !== '/seen') return res.writeHead(404).end();
  // /v1/models is open; the voices are for clients.
  send({
    models: await getJson('/models'),
    voices: await getJson('/audio/voices'),
    argv: process.argv.join(' '),
    auth: env.WEBUI_AUTH,
  });
}).listen(Number(PORT), HOST);
