/** A named set of tools: its own, and those of the sets that it includes. */
export interface Toolset {
  readonly description: string;
  readonly tools: readonly string[];
  readonly includes: readonly string[];
}

const set = (description: string, tools: readonly string[], includes: readonly string[] = []): Toolset => ({
  description,
  tools,
  includes,
});

const webTools = ['web_search', 'web_extract'] as const;
const terminalTools = ['terminal', 'process'] as const;
const fileTools = ['read_file', 'write_file', 'patch', 'search_files'] as const;
const skillTools = ['skills_list', 'skill_view', 'skill_manage'] as const;
const browserTools = [
  'browser_navigate',
  'browser_snapshot',
  'browser_click',
  'browser_type',
  'browser_scroll',
  'browser_back',
  'browser_press',
  'browser_get_images',
  'browser_vision',
  'browser_console',
  'browser_cdp',
  'browser_dialog',
] as const;
const homeAssistantTools = [
  'ha_list_entities',
  'ha_get_state',
  'ha_list_services',
  'ha_call_service',
] as const;
const kanbanTools = [
  'kanban_list',
  'kanban_show',
  'kanban_create',
  'kanban_update',
  'kanban_comment',
  'kanban_complete',
] as const;
const feishuTools = [
  'feishu_doc_read',
  'feishu_drive_list_comments',
  'feishu_drive_list_comment_replies',
  'feishu_drive_reply_comment',
  'feishu_drive_add_comment',
] as const;
const yuanbaoTools = [
  'yb_query_group_info',
  'yb_query_group_members',
  'yb_send_dm',
  'yb_search_sticker',
  'yb_send_sticker',
] as const;
const rlTools = [
  'rl_list_environments',
  'rl_select_environment',
  'rl_get_current_config',
  'rl_edit_config',
  'rl_start_training',
  'rl_check_status',
  'rl_stop_training',
  'rl_get_results',
  'rl_list_runs',
  'rl_test_inference',
] as const;
const spotifyTools = [
  'spotify_playback',
  'spotify_devices',
  'spotify_queue',
  'spotify_search',
  'spotify_playlists',
  'spotify_albums',
  'spotify_library',
] as const;

/**
 * What the CLI and every chat platform get. A tool named here is offered once it exists and its check passes;
 * naming it forces nothing.
 */
export const coreTools: readonly string[] = [
  ...webTools,
  ...terminalTools,
  ...fileTools,
  'vision_analyze',
  'image_generate',
  ...skillTools,
  ...browserTools,
  'text_to_speech',
  'todo',
  'memory',
  'session_search',
  'clarify',
  'execute_code',
  'delegate_task',
  'cronjob',
  'send_message',
  ...homeAssistantTools,
  ...kanbanTools,
  'computer_use',
];

const without = (tools: readonly string[], ...absent: readonly string[]): readonly string[] =>
  tools.filter((tool) => !absent.includes(tool));

const core = (where: string): Toolset => set(`The core tools, for ${where}`, coreTools);

const chatPresets: Readonly<Record<string, Toolset>> = {
  'hermes-telegram': core('Telegram'),
  'hermes-discord': set('The core tools and Discord’s own', [...coreTools, 'discord', 'discord_admin']),
  'hermes-slack': core('Slack'),
  'hermes-web': core('the web chat'),
  'hermes-whatsapp': core('WhatsApp'),
  'hermes-signal': core('Signal'),
  'hermes-bluebubbles': core('BlueBubbles'),
  'hermes-homeassistant': core('Home Assistant'),
  'hermes-email': core('email'),
  'hermes-mattermost': core('Mattermost'),
  'hermes-matrix': core('Matrix'),
  'hermes-dingtalk': core('DingTalk'),
  'hermes-feishu': set('The core tools and Feishu’s own', [...coreTools, ...feishuTools]),
  'hermes-weixin': core('Weixin'),
  'hermes-qqbot': core('QQ'),
  'hermes-wecom': core('WeCom'),
  'hermes-wecom-callback': core('WeCom callbacks'),
  'hermes-sms': core('SMS'),
  'hermes-yuanbao': set('The core tools and Yuanbao’s own', [...coreTools, ...yuanbaoTools]),
};

/** Bundles that stand for a whole session rather than for one ability. */
export const presets: Readonly<Record<string, Toolset>> = {
  'hermes-cli': core('the command line'),
  'hermes-cron': core('scheduled runs'),
  ...chatPresets,
  'hermes-acp': set('For editors: coding tools, no messaging, speech, images or schedules', [
    ...terminalTools,
    ...fileTools,
    ...webTools,
    ...browserTools,
    'vision_analyze',
    ...skillTools,
    'todo',
    'memory',
    'session_search',
    'execute_code',
    'delegate_task',
  ]),
  'hermes-api-server': set(
    'For API clients: the core tools that need no chat',
    without(coreTools, 'clarify', 'text_to_speech', 'send_message', 'computer_use', ...kanbanTools),
  ),
  'hermes-webhook': set('For webhooks, whose payloads are untrusted: nothing that acts', [
    ...webTools,
    'vision_analyze',
    'clarify',
  ]),
  'hermes-gateway': set('Everything that any chat platform gets', [], Object.keys(chatPresets)),
  coding: set(
    'For coding: the core tools without images, speech, schedules, the home and boards',
    without(
      coreTools,
      'image_generate',
      'text_to_speech',
      'cronjob',
      ...homeAssistantTools,
      ...kanbanTools,
      'computer_use',
    ),
  ),
};

/** Toolsets of one ability each, and a few that combine them. */
const abilities: Readonly<Record<string, Toolset>> = {
  web: set('Search the web and read pages', webTools),
  search: set('Search the web', ['web_search']),
  vision: set('Look at images', ['vision_analyze']),
  video: set('Look at videos', ['video_analyze']),
  image_gen: set('Make images', ['image_generate']),
  video_gen: set('Make videos', ['video_generate']),
  terminal: set('Run commands and look after processes', terminalTools),
  file: set('Read, write, edit and search files', fileTools),
  skills: set('Read and keep skills', skillTools),
  browser: set('Drive a browser', browserTools),
  cronjob: set('Schedule work', ['cronjob']),
  tts: set('Speak', ['text_to_speech']),
  todo: set('Keep a task list', ['todo']),
  memory: set('Remember across sessions', ['memory']),
  session_search: set('Search past sessions', ['session_search']),
  clarify: set('Ask the user', ['clarify']),
  code_execution: set('Run scripts that call tools', ['execute_code']),
  delegation: set('Hand tasks to sub-agents', ['delegate_task']),
  messaging: set('Send messages to platforms', ['send_message']),
  moa: set('Ask several models at once', ['mixture_of_agents']),
  rl: set('Train models', rlTools),
  homeassistant: set('Control a home by Home Assistant', homeAssistantTools),
  spotify: set('Control Spotify', spotifyTools),
  discord: set('Read and take part in Discord', ['discord']),
  discord_admin: set('Moderate Discord', ['discord_admin']),
  feishu_doc: set('Read Feishu documents', feishuTools.slice(0, 1)),
  feishu_drive: set('Comment in Feishu Drive', feishuTools.slice(1)),
  yuanbao: set('Yuanbao groups and stickers', yuanbaoTools),
  x_search: set('Search X', ['x_search']),
  kanban: set('Keep boards', kanbanTools),
  computer_use: set('Drive a desktop', ['computer_use']),
  project: set('Filled by plugins', []),
  desktop_ui: set('Filled by plugins', []),
  bot_room: set('Filled by plugins', []),
  context_engine: set('Filled by plugins', []),
  debugging: set('Find faults: commands, the web and files', terminalTools, ['web', 'file']),
  safe: set('Nothing that touches the machine', [], ['web', 'vision', 'image_gen']),
};

/** Every toolset by name. A new one is an entry in `abilities`, or in `presets` when it stands for a session. */
export const toolsets: Readonly<Record<string, Toolset>> = { ...abilities, ...presets };

/** Not offered unless a platform's list names the toolset itself, even where its preset has the tools. */
export const offByDefault: readonly string[] = ['moa', 'rl', 'discord_admin', 'spotify'];

/** Presets of platforms whose input is untrusted: plugins and MCP servers are not added by themselves. */
export const closedPresets: readonly string[] = ['hermes-webhook'];
