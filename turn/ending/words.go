package ending

import "strings"

// known are the words of closed classes, and others after which a sentence often goes on. They
// are classes of their own.
var known = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(knownWords) {
		m[w] = true
	}
	return m
}()

const knownWords = `
a an the this that these those my your his her its our their some any no every each another other both either neither all
i you he she it we they me him us them myself yourself himself herself ourselves themselves mine yours
somebody someone something anybody anyone anything nobody nothing everybody everyone everything one ones
of in on at to from for with without by about into onto over under between through during before after since until till
against among around near off out up down along across behind beside beyond like as than per via toward towards within
and or but so because if when while whether though although unless that which who whom whose what where why how
am is are was were be been being do does did done doing have has had having will would shall should can could may might must
im youre hes shes theyre weve ive youve theyve id youd hed wed theyd ill youll itll well theyll thats whats wheres hows theres its lets
dont doesnt didnt cant couldnt wont wouldnt isnt arent wasnt werent havent hasnt hadnt shouldnt
not very too really quite just only also even still already yet again ever never always often usually sometimes maybe perhaps
then there here now soon later today tomorrow tonight yesterday almost actually basically probably definitely
um uh er hmm mhm ah oh well okay ok yes yeah yep no nope sure please thanks thank hello hi hey bye goodbye sorry right
want need like love hate know think guess hope believe mean say said tell told ask asked give gave get got make made take took
go going went gone come came see saw look looking find found try trying tried buy bought book booked order ordered pay paid
put let keep keeps send sent call called calling talk talking speak work works help use used start started stop stopped
change cancel check show add remove move leave return wonder wondering feel seem seems sounds looks wait waiting
zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half quarter oclock
first second third fourth fifth last next
monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november december
week month year day days weekend morning afternoon evening night noon midnight minute minutes hour hours dollars euros
new more most much many few less least little lot lots bit kind sort couple
else instead anyway though enough together
mr mrs doctor dot
`
