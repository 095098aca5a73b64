"""What an English clause does that gives no answer: patterns over texts with contractions written out, per act."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

_SPEAKER = r"(?:i|we|me|us|(?:our|my|this|the) (?:\w+ )?(?:assistant|chat|chat ?bot|bot|systems?|service|tools?|search|lookup|channel|desk|team|side|records?|data|database|sources?|documents?|files?|notes|colleagues?|model|engine|agents?))"
_AMID = (  # between "not" and what is not done
    r"(?: (?:be|been|able|to|yet|give|you|have|in|a|position|allowed|want|wish|like|any|way|means|of|manage|managed|possible|quite|at|the|moment|present|right|now|here|today|going|sure|trying|been able|\w+ly|even|just|so|something|what|which|that))*"
)
_INFORMATION = (  # what an answer is made of
    r"(?:answers?|information|info|figures?|estimates?|details?|data|facts?|records?|results?|numbers?|dates?|confirmation|knowledge|access|status|insight|"
    r"forecasts?|news|word|evidence|basis|source|documentation|advice|response|reply|clue|idea|definite|definitive|certain|exact|reliable|confirmed|"
    r"up-to-date|sufficient|enough|anything|visibility|view)"
)
_GIVE = rf"(?:give|provide|offer|supply|deliver|produce|get|have|find|make out|quote|state|name|come up with)\b(?: \w+){{0,5}}? {_INFORMATION}"
_KNOW = (  # to know and to tell
    r"(?:answer|say|tell|know|help|assist|advise|comment|find|locate|confirm|verify|check(?! (?:\w+ ){0,2}?(?:in|out)\b)|determine|establish|work out|figure out|find out|make out|retrieve|fetch|load|display|"
    r"show|look (?:\w+ ){0,2}?(?:up|into)|see(?! you\b| (?:to|any reason))|read|access|disclose|respond|reply|guess|judge|assess|query|pull up|speculate|settle|discuss|clarify|"
    r"explain|vouch|pin down|be (?:sure|certain|definite)|reach (?:the|our|any)|get (?:to|at|through to|hold of)|connect|translate|summari[sz]e|interpret|identify|open (?:the|your|our)|"
    r"do (?:that|this)|take (?:that|this)|(?:process|handle|complete|serve|carry out|deal with) (?:\w+ ){0,2}?(?:questions?|requests?|quer(?:y|ies)|messages?|enquir(?:y|ies)|inquir(?:y|ies)|this|that|it)|"
    rf"{_GIVE})s?\b"
)
_DID = r"(?:can|could|am|are|is|was|were|will|would|have|has|had|may|might|'m)"
_BARRED = (
    r"(?:unable|not able|not in a position|not equipped|not (?:allowed|authori[sz]ed|permitted|qualified|trained)|no (?:way|means|possibility)|impossible|hard|difficult|tricky|"
    r"struggling|(?:having |have |had )?(?:trouble|difficulty|difficulties)|fail(?:ed|ing)?)"
)
_ASKED = r"(?:where|when|whether|who|how|which|what|why|if)"
_QUESTION = r"(?:questions?|requests?|quer(?:y|ies)|enquir(?:y|ies)|inquir(?:y|ies)|messages?|tickets?|cases?|this(?: one)?|that(?: one)?|it|matter|issue)"
_STAFF = (
    r"(?:someone|somebody|colleagues?|humans?|persons?|people|members?|technicians?|specialists?|experts?|agents?|advis[eo]rs?|operators?|representatives?|staff|team|teams|"
    r"desk|office|department|ward|engineers?|supervisors?|support|consultants?|they|clerks?|section|unit|service)"
)
UNKNOWING = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_SPEAKER}\b[^.!?]{{0,25}}?\b{_DID}\b(?: \w+){{0,2}}? not\b{_AMID} {_KNOW}",
        rf"\b{_SPEAKER}\b[^.!?]{{0,25}}?\b(?:do|did|does) not (?:\w+ly |yet |even |really )?(?:know|see|understand|recall|remember|recogni[sz]e)\b",
        rf"\b{_SPEAKER}\b[^.!?]{{0,12}}\b(?:refused|declined|rejected|turned (?:away|down))\b[^.!?]{{0,12}}\b(?:request|question|query)\b",
        rf"\b(?:nobody|no one) (?:here|at our end|on our side|in the team)\b[^.!?]{{0,20}}\b{_KNOW}|\b(?:neither of us|none of us)\b[^.!?]{{0,12}}\b{_KNOW}",
        rf"^\W*(?:(?:sorry|unfortunately|hmm|well|so|but|and|honestly|sadly|alas)\W+)*(?:(?:can|could) )?not{_AMID} (?:something (?:that )?(?:i|we) can )?{_KNOW}",
        r"\bnot (?:something|a question|a thing|a topic|one|information|a detail|data|knowledge)\b(?: that| which)?(?: \w+){0,2}? (?:i|we|this \w+)\b",
        r"\b(?:that|this|it|which) is (?:something|a question|a detail|information|one) (?:that )?(?:i|we) (?:can|could|am|are|do|have)\b(?: not| no way| unable)",
        r"\b(?:(?:can|could|was|were|is|are|may)\b(?: \w+){0,2}? not (?:\w+ ){0,2}?(?:be )?|(?:has|have|had) not (?:\w+ )?been )(?:\w+ly )?(?P<done>retrieved|loaded|displayed|determined|looked up|fetched|established|found out|worked out|shown|verified|"
        r"confirmed|checked|answered|generated|produced|obtained|resolved|accessed|queried|computed|ascertained|given|told|provided|settled|disclosed)\b(?! (?:to|out to|by) (?:any|some))",
        r"\b(?:questions?|requests?|quer(?:y|ies)|enquir(?:y|ies)|inquir(?:y|ies)|messages?|answers?|response|reply)\b[^.!?]{0,25}\b(?:can|could|was|were|has|have|is|are)\b[^.!?]{0,10}\bnot (?:be |been )?(?:answered|processed|handled|completed|served|resolved|settled|dealt with|looked into|produced|generated|given|possible|available)\b|\b(?:question|request|query|answer)\b[^.!?]{0,15}\b(?:timed out|took too long)\b|\b(?:question|request|query)\b[^.!?]{0,15}\b(?:unanswered|refused|rejected|not processed|failed)\b",
        rf"\b{_BARRED}\b[^.!?]{{0,14}}?\b{_KNOW}|\b{_BARRED} (?:for|of|in)?\s?(?:\w+ )?(?:answering|saying|telling|knowing|checking|finding|confirming|verifying|reaching|accessing|getting|looking|retrieving|loading|connecting|seeing|providing)\b",
        r"\b(?:i|we) (?:\w+ )?(?:do|did) not (?:\w+ )?know\b|^\W*(?:i )?do not know\b|\bdo not know\b(?=[^.!?]{0,20}$)|\bno (?:idea|clue)\b|\bnot (?:\w+ )?(?:a|the faintest|the slightest|the foggiest) (?:clue|idea)\b|\bno can do\b|\bleave (?:that|this|the|your) (?:question|point|matter)? ?(?:open|unanswered)\b|\bnot (?:a|the faintest|the slightest) (?:clue|idea)\b|\bunknown to (?:me|us)\b|\bis unknown here\b",
        rf"\b(?:i|we|{_SPEAKER})\b[^.!?]{{0,25}}\b(?:have|has|had|see|find|found|got|hold|holds|with)\b (?:currently |yet )?(?:no|not any|nothing)\b(?: \w+){{0,3}}? (?:{_INFORMATION}(?! of)|on|about|for)\b",
        rf"\b(?:i|we|{_SPEAKER}) (?:\w+ )?(?:lack|am missing|are missing|is missing|lacks|miss)\b",
        rf"\b(?:i|we|{_SPEAKER})\b[^.!?]{{0,20}}\b(?:do|did|does|have) not (?:\w+ ){{0,2}}?(?:have|hold|possess|been given|been told|received|got|seen|find|found)\b(?: \w+){{0,4}}? (?:{_INFORMATION}|to hand|in front of me|at hand|for you)\b",
        rf"\b(?:i|we) (?:was|were|have been|am|are) not (?:given|told|informed|provided|sent|shown)\b|\bnot (?:given|told|provided|sent|shown|passed on|available) to (?:me|us)\b|\b{_INFORMATION} (?:that )?(?:i|we) (?:do not|did not|never)\b|\b(?:i|we) (?:do|did) not have (?:that|this|it)\b(?=\W*(?:$|right|at|yet|here|now|to))",
        rf"\b(?:there is |there are )?(?:currently |still )?no (?:\w+ )?{_INFORMATION}\b(?! (?:of|for|under|with|matching) (?:your|that|this|the|a|an|such)\b)[^.!?]{{0,30}}?\b(?:available|yet|could be|can be|to hand|from (?:me|us|our|here)|reached us|at present|at the moment|right now|at this time|on (?:this|that|it|file)|here|possible|given|has come|was (?:obtained|received|produced)|for you|time)\b",
        rf"^\W*(?:i have |there is )?(?:no|not any|insufficient|not enough|missing) (?:\w+ )?{_INFORMATION}(?: (?:available|found|yet|here|on that|on this|about that|to report|to share))?\W*$|\b(?:insufficient|not enough|too little|incomplete) (?:information|data|details|evidence)\b|\bnothing (?:\w+ )?(?:to report|on (?:this|that) (?:here|yet)|i can (?:say|tell|add|share))\b",
        rf"\b{_INFORMATION}\b[^.!?]{{0,15}}\b(?:not|un)\s?(?:currently )?available to (?:me|us)\b|\bnot (?:currently )?available to (?:me|us)\b",
        r"\b(?:i am|we are|i'm|it is|that is|this is|am|still|remains|is) (?:\w+ )?(?:not (?:\w+ )?(?:sure|certain|clear|known|aware|familiar|at liberty)|unsure|uncertain|unclear|unaware)\b|^\W*not (?:sure|certain)\b",
        r"\b(?:beyond|outside|out of|exceeds?|not within|above) (?:of )?(?:me\b|us\b|(?:my|our) (?:\w+ )?(?:scope|remit|knowledge|competence|area|field|expertise|abilit\w+|reach|means|capabilit\w+|role|depth|league|control|pay grade|domain|line)\b|what (?:i|we|this)\b|the scope|scope|(?:this|the) (?:chat|assistant|service|bot|tool))",
        r"\b(?:would|might|may|could|shall|should|will)\b[^.!?]{0,12}\b(?:rather|prefer|like|want)? ?(?:to )?not (?:to )?(?:want to )?(?:guess|say|speculate|commit|answer|risk|make (?:one|something) up)\b|\brather (?:say nothing|stay silent|leave it|pass)\b|\b(?:only|just|merely|have to|has to|would be) (?:be )?guess(?:ing|work)?\b|\bdrawing a blank\b|\bbeats me\b|\bwish i (?:could|knew)\b|^\W*pass\W*$|\b(?:hard|difficult|impossible|too early|tricky) (?:\w+ )?to (?:say|tell|know|judge)\b|\byour guess is\b|\bno comment\b|\bstumped\b",
        r"\b(?:i|we)\b[^.!?]{0,25}\b(?:decline|refuse|refrain|abstain|must pass|have to pass|turn (?:this|that) down|hold off|say no to)\b[^.!?]{0,30}(?:\b(?:answer|comment|request|question|guess|say|naming|giving|stating|quoting)\w*\b|$)|\bcan not be of (?:\w+ )?(?:help|assistance|use)\b|\b(?:i|we) (?:only|just) (?:know|have|see)\b|\bonly (?:questions|queries|topics)\b",
        rf"\b{_INFORMATION}\b[^.!?]{{0,30}}\b(?:is|are|was|were) not (?:\w+ )?(?:enough|sufficient|good enough|complete)\b|\b(?:my|our|the) (?:\w+ )?(?:sources?|records?|documents?|notes|files?|data|systems?)\b[^.!?]{{0,10}}\b(?:disagree|contradict|conflict|clash)\w*",
        r"\bso far,? (?:i|we) (?:have|could|did|do) not\b|\b(?:as soon as|once|when) (?:i|we) (?:find out|learn|hear|know|have (?:it|an answer))\b|\bnothing (?:came up|turned up|surfaced) (?:about|on|regarding|for)\b|\bno (?:\w+ ){0,3}?(?:could|can) be (?:retrieved|loaded|fetched|established|determined|obtained|looked up)\b",
        rf"^\W*(?:the )?(?:look-?up|search|query|retrieval) (?:has )?(?:failed|timed out|returned nothing|came back empty)\b|\b(?:i|we) (?:have|had) not been (?:given|told|sent|shown|provided)\b|^\W*(?:in order )?to (?:say|answer|know|be able to say) (?:\w+ )?{_ASKED}\b|\bnot (?:\w+ )?(?:visible|accessible|shown|open|known) to (?:me|us)\b|\bno (?:\w+ )?{_INFORMATION}\b[^.!?]{{0,40}}\b(?:at|on) hand\b",
        r"\bnot an answer\b|\bno answer\b|\banswer(?:ed|ing)? (?:will|has to|have to|must|to|will have to) (?:follow|wait|come later)\b|\bdepends on (?:details|things|facts|information) (?:that )?(?:i|we)\b",
        rf"\b{_QUESTION}\b[^.!?]{{0,30}}\b(?:have|has|need|must|will)\b (?:have )?(?:to )?wait\b|\bwhich (?:i|we) (?:do|can|could) not\b|\b(?:keeps|keep|prevents?|stops?|hinders?) (?:me|us) from\b|\bnot (?:supported|covered|possible) (?:here|in this (?:chat|channel|mode)|by this|at present|right now)\b",
    )
)  # fmt: skip
HEADS = (  # what looks an answer up, or gives it
    r"(?P<head>data|databases?|lookups?|look-ups?|search(?:es)?|systems?|servers?|back-?end|api|assistant|chat ?bot|bot|ai|model|knowledge base|catalogu?e|feed|sensors?|connections?|network|"
    r"information|website|site|pages?|app|platform|portal|tools?|services?|lines?|hotline|help ?desk|support|engine|provider|functions?|features?|chat|index|registry|line|display|answering|answers?|reply|response|results?)"
)
FIGURES = (  # too busy, or not working, in a figure of speech
    r"(?:taking|having|on|needs?|needing|catching|out (?:for|to)|off (?:for|to)|gone (?:for|to)|in need of) (?:an? |its |his |her |their |our |my |some |another )?(?:\w+ ){0,2}?(?:breather|breath|nap|lunch|coffee|tea|snooze|rest|time-?out|siesta|day off|pause|downtime|bad day|vacation|hiccups?|wobble|meltdown)"
    r"|at (?:lunch|tea)|(?:fast )?asleep|(?:nodded|dozed|dropped|drifted) off|(?:conked|checked|logged|clocked|zoned) out|under the weather|(?:its|my|their|our|his|her) hands (?:are )?full|hands (?:are )?full|up to (?:its|my|their|our) (?:ears|eyes|neck|eyeballs)|snowed under|tied up|r(?:u|a)n off (?:its|my|our|their) feet|rushed off|stretched (?:too )?(?:thin|to the limit)"
    r"|slammed|inundated|flooded|drowning|buried|struggling|gone (?:quiet|silent|fishing|walkabout|dark|awol|to sleep)|on strike|dozing|napping|snoozing|(?:feeling|feels) (?:poorly|unwell|a (?:bit|little) \w+)|throwing a (?:tantrum|wobbly)|misbehaving|acting up|overstretched|exhausted|worn out"
    r"|not (?:itself|feeling well|at its best|in the mood)|warming up|waking up|booting|recharging|choking|groaning|creaking|jammed|clogged|bursting at the seams|bitten off more|running (?:on (?:fumes|empty)|hot|late|slow(?:ly)?)|lost (?:its|my) (?:way|voice|thread)|scratching (?:its|my) head"
)
_HELPERS = (  # who may be busy with others
    r"(?:agents?|advis[eo]rs?|operators?|colleagues?|staff|representatives?|reps?|teams?|consultants?|lines|everyone|everybody|people|assistants?|attendants?|clerks?|nurses?|doctors?|specialists?|experts?|"
    r"technicians?|counsell?ors?|helpers?|employees|associates|receptionists?|pharmacists?|librarians?|engineers?|handlers|supervisors?|managers?|members of staff|hosts?|phone lines|desks|counters)"
)
_FAILING = (
    r"(?P<fails>(?:too |very |extremely |rather )?busy|overloaded|overwhelmed|unavailable|not (?:\w+ )?(?:available|reachable|respond(?:ing)?|working|loading|answering|online|connected|keeping up|load|come through|up|running|ready)|down|offline|at capacity|"
    r"maintenance|out of (?:service|order|action|reach)|degraded|unreachable|limited|reduced|swamped|in high demand|full|missing|lagging|stale|being (?:updated|restarted|repaired|upgraded|maintained|fixed)|updating|restarting|rebooting|(?:having|have|has|had|with|some|technical|an?) (?:\w+ )?(?:trouble|problems?|issues?|difficulties)|"
    rf"{FIGURES}|disrupted|disruption|interrupted|outage|paused|resting|asleep|sleeping|(?:on|taking) (?:a )?(?:\w+ )?break|fail(?:s|ed|ing|ure)?|timed out|stuck|lost|suspended|broken|crashed|frozen|error|"
    r"(?:returned|answered with|gave) (?:an? )?(?:\w+ )?(?:error|5\d\d)|playing up|hiccups?)"
)
_WITH_OTHERS = r"(?:talking|speaking|helping|serving|assisting|attending|seeing|looking after|dealing|with)\b[^.!?]{0,14}\b(?:another|other\w*|someone else)"
SYSTEM = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?P<before>(?:\b\w+ ){{0,3}})\b{HEADS}\b(?! (?:question|request|number)s?\b)[^.!?]{{0,30}}?\b{_FAILING}\b",
        rf"\b(?:our|all|every|each|my|these|the)\b[^.!?]{{0,40}}?\b(?P<staff>{_HELPERS})\b[^.!?]{{0,20}}\b(?:busy|engaged|occupied|taken|tied up|unavailable|not (?:\w+ )?available|on (?:other|another|a) (?:phone )?calls?|{_WITH_OTHERS})\b",
        rf"\b(?:our|all|every|each)\b[^.!?]{{0,40}}?\b(?P<staff>\w+)\b (?:is|are)\b[^.!?]{{0,20}}?\b(?:{_WITH_OTHERS}\b|in (?:another|other) (?:calls?|chats?|conversations?))",
        r"\b(?:nobody|no one|no (?:agent|colleague|operator|advis[eo]r))\b[^.!?]{0,20}\b(?:can|is (?:able|free|available)|could)\b[^.!?]{0,20}\b(?:answer|help|reply|respond|check|now|moment|present)\b",
        r"\b(?:there is|there are|due to|because of|owing to|experienc\w+|we have|we are having|we are seeing|facing|ran into|hit|encountered|suffering)\b[^.!?]{0,25}\b(?:disruptions?|outages?|technical \w+|problems?|issues?|faults?|errors?|maintenance|snags?|glitch(?:es)?|difficulties|failures?|interruptions?|hiccups?|(?:demand|load|traffic|volumes?|number of (?:requests|calls|questions|messages)))\b",
        r"\b(?:high|heavy|unusual\w*|exceptional\w*|peak|large|huge|great) (?:\w+ )?(?:demand|load|traffic|volumes?|number of (?:requests|questions|calls|messages|visitors|queries|inquiries|enquiries))\b|\b(?:more|too many|a lot of|many) (?:requests|questions|calls|messages|visitors|queries|inquiries|enquiries)\b",
        r"\bsomething (?:went|has gone|is) wrong\b|\b(?:that|this|it) did not (?:work|go through|load)\b|\b(?:have|has|'ve)? ?lost (?:the|my|our|its) connection\b|\bover capacity\b|\bout of capacity\b|\brate limit\b|\bcapacity is exhausted\b",
        r"\b(?:reduced|limited|degraded|fallback|emergency|backup|restricted|basic|safe) (?:mode|service|functionality|functions?|capacity|operation|form)\b|^\W*(?:temporar\w+|currently|momentarily) (?:unavailable|out of (?:service|order)|offline|suspended|down)\b|\bservice unavailable\b|\btemporarily (?:unavailable|out of service|offline|suspended)\b",
        r"^\W*(?:(?:we|i) (?:are|am) )?(?:far |much )?(?:too|very|extremely|currently) (?:busy|overloaded|overwhelmed|swamped)\b",
        r"\b(?:i|we|our \w+) (?:am|are|is) (?:\w+ )?(?:too |very |extremely |rather )?(?:busy|overloaded|overwhelmed|swamped|snowed under|down|offline|at capacity|full|(?:on|taking) (?:a )?(?:\w+ )?break|having (?:trouble|problems|difficult\w+|issues))\b",
        rf"\b(?:i|we|everyone|everybody|our \w+|my \w+)\b(?:'m| am| are| is| have| has| got)?(?: \w+){{0,2}}? (?:{FIGURES})\b",
        r"\b(?:our|my) (?:records?|files?|data|notes|sources?|books|archives?|archive)\b[^.!?]{0,20}\b(?:out of (?:my |our )?reach|unavailable|inaccessible|unreachable|down|offline|locked|not (?:\w+ )?(?:available|accessible|reachable))\b",
    )
)  # fmt: skip
_MOMENT = r"(?:in (?:a |an |about |roughly |around )?(?:few |couple of |little |short )?(?:moments?|minutes?|while|bit|seconds?|hours?|\w+ (?:minutes|seconds|hours?|days?))|after \w+|once|shortly|soon|tomorrow|later)"
RETRY = re.compile(
    rf"\b(?:try|ask|reload|refresh|resubmit|resend|repeat|check|call|ring|come|write|message|return|answer|reply|visit|look|contact us|drop by|get in touch)\b[^.!?]{{0,40}}\b(?:again|(?<!no )later|once more|back|{_MOMENT})\b"
    rf"|\bretry\b|\b(?:another|a second) (?:go|try|attempt)\b|\bplease (?:hold|wait|stand by|bear with|be patient|stay)\b|\b(?:hang|hold|sit) (?:tight|on)\b|\bbear with (?:me|us)\b|\bone moment\b|\bgive (?:us|me|it|him|her|them) \w+\b[^.!?]{{0,10}}\b(?:minutes?|moments?|more|time|while|seconds?)\b"
    r"|^\W*(?:(?:will )?be )?(?:right )?back in \w+(?: \w+)?\W*$|\bstay (?:on|in) (?:the )?(?:line|chat|call)\b|\bhave to ask again\b|\bback (?:online|up again|soon|shortly)\b",
    re.IGNORECASE,
)
QUEUE = re.compile(
    rf"\b{_QUESTION}\b[^.!?]{{0,30}}\b(?:queued?|waiting list|on hold|recorded|logged|noted|received|saved|registered|stored|kept|pending|in line|open for now|next in turn|in (?:the|a|our) (?:queue|line|inbox))\b"
    r"|\b(?:saved|kept|noted|recorded|logged|registered|stored|parked|queued|received|taken down) (?:your|this|the) (?:question|request|message|query|enquiry|inquiry)\b|\b(?:in|into|to|joined|joining) (?:the|a|our) (?:queue|line)\b|\bqueued\b|\bcaller (?:number|no)\b"
    r"|\bnumber \w+ in (?:line|the line|the queue|our queue)\b|\b(?:next|\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth) in (?:line|(?:the |our )?queue)\b|\b(?:position|place)\b[^.!?]{0,20}\b(?:queue|line)\b|\b(?:ahead|before|in front) of you(?:rs)?\b|\b(?:your|it is your) turn\b"
    r"|\b(?:estimated|expected|approximate|average|current) wait(?:ing)?(?: time)?\b|\bwait(?:ing)? time\b|\b(?:the|your) wait (?:is|will be|should be|may be)\b|\bin line\b|\bin our inbox\b|\b(?:has|have|got) your (?:question|request|query|message|enquiry|inquiry)\b|\b(?:requests|people|callers|customers|users|guests|others|questions) (?:are |were )?(?:before|ahead of|in front of) (?:you|yours)\b|\b(?:answer|reply|response)\b[^.!?]{0,12}\b(?:delayed|late|on (?:its|the) way|coming|taking (?:longer|a while))\b|\bbehind \d+ other",
    re.IGNORECASE,
)
HANDOVER = re.compile(
    rf"\b(?:{_QUESTION}|you)\b[^.!?]{{0,25}}\b(?:forwarded|passed|handed|escalated|transferred|routed|redirected|assigned|referred|sent on|put through|connected|relayed|raised)\b"
    rf"|\b(?:forward|hand|pass|transfer|escalat|rout|redirect|refer|relay|rais|flag)\w*\b (?:on )?(?:your |the )?{_QUESTION}\b(?! \w+ (?:over|out)\b)|\b(?:transfer|forward|hand|pass|connect|escalat|rout|direct|put|patch|switch|get|send)\w*\b (?:you|your \w+|this|that|it|the \w+)\b[^.!?]{{0,25}}\b(?:to|with|through|over|on|along|across|for)\b[^.!?]{{0,30}}(?:\b{_STAFF}\b|$)"
    rf"|\b(?:sent|submitted|put|taken|took|directed|brought|shared|delivered|handed in) (?:your |the |this )?{_QUESTION}\b|\b(?:pass|hand|send|forward|refer)\w*\b (?:it |this |that )?(?:along|on|over) to (?:some\w*|an?|our|the|my)\b"
    rf"|\b{_QUESTION}\b[^.!?]{{0,15}}\b(?:landed|sits|lies|rests|gone|went|is now|is already|is)\b (?:with|on the desk of|at) (?:an?|our|my|the|one)\b"
    r"|\bneeds? an? (?:\w+ )?(?:specialist|human|expert|colleague|person|supervisor)\b|\b(?:put|get|pass|hand|patch|send|switch|connect) you (?:through|over|on to|along|across)\b|\b(?:asked|told|informed|notified|alerted) (?:a|my|our|the) (?:\w+ )?(?:colleagues?|team|specialist|supervisor|staff|agent|expert|technician\w*)\b|\b(?:technician|engineer|team|staff|colleague|support)s?\b[^.!?]{0,10}\b(?:have|has|had|been|was|were|is|are)\b[^.!?]{0,10}\b(?:informed|notified|alerted|told|asked|working on|looking into|on it)\b",
    re.IGNORECASE,
)
FOLLOW_UP = re.compile(
    rf"\b(?:leave|give|send) (?:me|us) your (?:\w+ )?(?:e-?mail|number|phone|address|contact)\b|\byou (?:will|can|may) (?:soon |then |shortly )?(?:hear|be (?:informed|notified|contacted|called|told)|expect)\b|(?:\b(?:{_STAFF}|i|we|which|who)\b[^.!?]{{0,30}}|^\W*(?:and |but |so )?)\b(?:will|shall|is going to|are going to|going to|has to|have to|'ll|(?<!i )(?<!we )(?:can|could|may))\b(?: \w+){{0,2}}? (?:get back|reply|respond|follow up|be in touch|answer|contact you|write|come back|call|email|e-mail|get in touch|reach out|message|let you know|take (?:care|it|this|over)|look into|get (?:round )?to (?:you|your|it|this|that|the)|be with you|attend to|serve|help|assist|inform|notify|hear from|advise|tell you|confirm|pick (?:this|it) up|be (?:informed|notified|contacted)|(?:ring|phone|text|mail) (?:you|back)|be with you)\b"
    r"|\b(?:taking over|takes over|will take it from here|pick(?:s|ed|ing)? (?:this|it) up|look(?:s|ing)? (?:into|at) (?:it|this|that|your|the question))\b|\b(?:we are|i am|team is|still|being) (?:\w+ )?(?:looking into|checking|working on|investigating|verifying|on it|clarifying)\b|\b(?:let me|i will|we will|i am going to|i have to|i need to|we need to|(?:i|we) would (?:have|need) to)\b[^.!?]{0,12}\b(?:check|find|ask|look|come back|get back|enquire|inquire|verify|consult|fetch|see (?:who|whether|if|what))\b|\bexpect (?:a|an|our) (?:call|reply|answer|e-?mail|response|message)\b|\bupdates? (?:will be|can be|follow|(?:are|is) (?:\w+ )?(?:posted|sent|given|published|available|on|coming|to follow|shared|provided))\b|\b(?:will|shall) (?:then )?be (?:answered|handled|processed|looked (?:at|into)|dealt with|taken up|reviewed)\b|\bas soon as (?:i|we) (?:know|have|hear|find)\b",
    re.IGNORECASE,
)
_PLACES = (
    r"(?:team|staff|colleagues?|advis[eo]rs?|agents?|office|desk|support|service|website|site|pages?|app|lawyer|solicitor|doctor|gp|vet|nurse|pharmacist|person|people|expert|specialist|department|manager|operator|"
    r"number|line|hotline|provider|supplier|author\w+|human|someone|reception|documentation|manual|portal|account|them|us|board|screens?|counter|bank|clinic|embassy|consulate|school|hotel|landlord|council|"
    r"teacher|librarian|caretaker|dealer|manufacturer|carrier|airline|organi[sz]er|owner|administrator|hr|helpline|bulletin|notice|announcement|leaflet|label)"
)
REFERRAL = re.compile(
    rf"\b(?:ask|contact|consult|speak (?:to|with)|talk to|reach|call|phone|ring|email|e-mail|write to|check(?: with)?|turn to|refer to|get in touch with|see|visit|look (?:at|on|up)|try|raise (?:it|this|that)|go to|follow|enquire|inquire)\b[^.!?]*\b{_PLACES}\b"
    rf"|\b{_PLACES}\b[^.!?]*\b(?:can|could|may|might|will|would|should|is|are)\b[^.!?]*\b(?:help|assist|tell|answer|know|advise|ask|contact|confirm|explain|look into|able to|inform)\b|\b(?:best|safest) (?:to |is to )?(?:ask|ring|call|contact|check|consult)\b|\bnumber is\b|\b(?:call|phone|ring|dial|text|fax|reach us)\b[^.!?]{{0,24}}\+?\d[\d -]{{4,}}|\b(?:opening|office|service|phone) hours\b|\blines are open\b",
    re.IGNORECASE,
)
ASKED_ABOUT = re.compile(r"\b(?:questions?|advice|enquir\w+|inquir\w+|information)\b", re.IGNORECASE)
_NO = r"\b(?:not|no|never|nothing|none|nobody|neither|without|hardly|barely|un\w+able|missing|lacks?|lost|fail\w*)\b"
LOOSELY = tuple(  # somebody who speaks for himself, and denies; what is known, and denied
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_NO}[^.!?]*\b(?:i|me|my|myself|this (?:assistant|chat|bot|tool))\b|\b(?:i|me|my|i'm|myself|this (?:assistant|chat|bot|tool))\b[^.!?]*{_NO}",
        rf"\b(?:we|us|our|here)\b[^.!?]*{_NO}[^.!?]{{0,30}}\b(?:information|details?|data|answers?|sources?|records?|clue|knowledge|insight|results?|confirmation|documentation)\b",
        rf"\b(?:information|details?|data|answers?|sources?|records?|clue|knowledge|insight|results?|confirmation|documentation)\b[^.!?]{{0,30}}{_NO}[^.!?]*\b(?:we|us|our|here)\b",
    )
)
OURSELVES = re.compile(r"\b(?:i|me|my|i'm|myself)\b", re.IGNORECASE)
_THING = re.compile(r"(?P<verb>[a-z]+) (?:on )?(?:it|this|that|them|the [a-z-]+)\b", re.IGNORECASE)
_US = re.compile(
    r"\b(?:i|we|me|us|our|my|someone|somebody|colleagues?|team|staff|agents?|systems?|assistant|bot|support|operators?)\b",
    re.IGNORECASE,
)
_SOMEBODY = re.compile(
    r"\b(?:the|an?|his|her|their|its|your|this|that|they|he|she|who|you)\b|[a-z] [A-Z][a-z]+ (?:has|have|will)\b"
)


def passes_a_thing(clause: str, handover: re.Match[str]) -> bool:
    """Whether somebody else, or the reader, does it, and with a thing: "the vet has passed it", "put it through the mill"."""
    thing = _THING.match(handover[0])
    before = clause[: handover.start()]
    if thing is None or _US.search(before):
        return False
    if _SOMEBODY.search(before.lower()):
        return True
    verb = thing["verb"].lower()
    return not verb.endswith(("ing", "ed")) and not re.search(
        rf"\b{_STAFF}\b", clause[handover.start() :], re.IGNORECASE
    )
