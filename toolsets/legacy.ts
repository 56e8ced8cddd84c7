import { toolsets } from './toolsets.ts';

/** Names of older configurations. They stand for tools, not for toolsets: `terminal_tools` has no `process`. */
export const legacyToolsets: Readonly<Record<string, readonly string[]>> = {
  web_tools: ['web_search', 'web_extract'],
  terminal_tools: ['terminal'],
  vision_tools: ['vision_analyze'],
  moa_tools: ['mixture_of_agents'],
  image_tools: ['image_generate'],
  skills_tools: ['skills_list', 'skill_view', 'skill_manage'],
  browser_tools: [
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
  ],
  cronjob_tools: ['cronjob'],
  rl_tools: toolsets['rl']?.tools ?? [],
  file_tools: ['read_file', 'write_file', 'patch', 'search_files'],
  tts_tools: ['text_to_speech'],
};
