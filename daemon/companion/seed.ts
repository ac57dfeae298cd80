export interface Seed {
  /** The API's bind host. */
  readonly bindHost: string;
  readonly port: number;
  /** Signs the sessions of the chat UI; without one every restart would end them. */
  readonly sessionSecret: string;
}

/**
 * Returns the first companion.env (docs/spec/contract.md#companion-env). Its bind host is the one chosen for
 * the API.
 */
export const companionSeed = ({ bindHost, port, sessionSecret }: Seed): string => `\
# The companion chat UI (svc-companion.service runs Open WebUI); mode 0600, owned by the service user.
# After a change: systemctl restart svc-companion. Every further variable of Open WebUI may be set here; quoting is as in
# systemd unit files. The API key is not set here: it is SVC_CLIENT_KEY of api.env, read at each start.

# Its own address and port. The keys and access classes of the gateway do not apply to it.
SVC_OWUI_BIND_HOST=${bindHost}
SVC_OWUI_PORT=${port}

# Its own sign-in; the first user who registers becomes its administrator. False: everyone who reaches the port uses the models and reads every
# stored conversation.
WEBUI_AUTH=True

# Sign-in by a proxy that names the visitor in a header, together with WEBUI_AUTH=True. Only with SVC_OWUI_BIND_HOST=127.0.0.1
# and a proxy that overwrites the header: a caller that reaches the port can set it.
#WEBUI_AUTH_TRUSTED_EMAIL_HEADER=X-Forwarded-Email

# The gateway. Default: its address on this machine. The parts below use the same address and key unless a line such as
# RAG_OPENAI_API_BASE_URL names another server.
#OPENAI_API_BASE_URL=http://127.0.0.1:8080/v1

# The model of a new chat, and the one that writes titles and tags.
DEFAULT_MODELS=agent
TASK_MODEL_EXTERNAL=svc/utility

# Documents: the embedding model of the gateway. With several texts in one request a long document is faster.
RAG_EMBEDDING_ENGINE=openai
RAG_EMBEDDING_MODEL=embed
RAG_EMBEDDING_BATCH_SIZE=32

# Speech to text, text to speech.
AUDIO_STT_ENGINE=openai
AUDIO_STT_MODEL=stt
AUDIO_TTS_ENGINE=openai
AUDIO_TTS_MODEL=tts
AUDIO_TTS_VOICE=alloy

# Voice calls run on the four lines above. True: over the realtime API of the gateway.
AUDIO_REALTIME_ENABLED=False
AUDIO_REALTIME_MODEL=agent
AUDIO_REALTIME_TRANSCRIPTION_MODEL=stt
AUDIO_REALTIME_VOICE=alloy

# Images.
ENABLE_IMAGE_GENERATION=True
IMAGE_GENERATION_ENGINE=openai
IMAGE_GENERATION_MODEL=img

# The address that people use, when a proxy is in front.
#WEBUI_URL=https://chat.example.com

# This file overrides settings made in the web UI.
ENABLE_PERSISTENT_CONFIG=False

# Contacts only the gateway; no telemetry.
ENABLE_OLLAMA_API=False
OFFLINE_MODE=True
ENABLE_VERSION_UPDATE_CHECK=False
ENABLE_COMMUNITY_SHARING=False
ANONYMIZED_TELEMETRY=False
DO_NOT_TRACK=true
SCARF_NO_ANALYTICS=true

# Signs its sessions; made once, on this machine.
WEBUI_SECRET_KEY=${sessionSecret}
`;
